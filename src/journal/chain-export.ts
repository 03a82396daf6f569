import { canonicalJson } from '../shared/canonical-json.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { writeLink, type SealedEntry } from './chain.ts'
import type { ChainHead, Checkpoint, Signature } from './chain-checkpoint.ts'
import type { JournalEntry } from './journal.ts'

/** The version of the export format; a verifier refuses one it does not know. */
export const exportVersion = 1

/** From when to before when, in epoch milliseconds. */
export interface ExportPeriod {
  readonly from: number
  readonly to: number
}

/** The first line of an export: what is in it, and what is needed to check it. */
export interface ExportManifest {
  readonly lockstep: 'export'
  readonly v: typeof exportVersion
  /** Every chain of the export in order, with its length and last hash; the hash is null for a record that was kept without a chain. */
  readonly chains: readonly {
    readonly chain: string
    readonly entries: number
    readonly hash: string | null
  }[]
  /** Whether the export holds all runs of its tenants, and the tenants' own chains. */
  readonly complete: boolean
  /** The time whose runs it holds, all that were opened in it, where it is not about all times; `to` is no part of it. */
  readonly period?: ExportPeriod
  /** Playbooks, policies and lists of tools by their digest. */
  readonly documents: { readonly [digest: string]: Json }
  /** Public keys by their id: Ed25519, in PEM. */
  readonly publicKeys: { readonly [id: string]: string }
  readonly checkpoints: readonly Checkpoint[]
  /** The signature over all that is shown in the place of withheld payloads; the text is made by `viewsText`. */
  readonly views?: Signature
}

/** A line of an export about one entry. */
export type ExportEntry =
  | (Omit<SealedEntry, 'payload'> & {
      readonly salt?: string
      readonly data?: JsonObject
      /** What the payload says with secrets taken out, where it is withheld: the word of who signed the views. */
      readonly view?: JsonObject
    })
  /** Of a record without a chain; `redacted` where secrets were taken out of its payload. */
  | { readonly entry: JournalEntry; readonly redacted?: true }

/** A sealed entry as a line. The texts that were hashed stand in it letter by letter, so that they need not be written again. */
export function writeSealedLine(
  { link, hash, mac, key, payload }: SealedEntry,
  view: JsonObject | null = null,
): string {
  const head = `{"link":${writeLink(link)},"hash":"${hash}","mac":"${mac}","key":"${key}"`
  if (view !== null) return `${head},"view":${canonicalJson(view)}}`
  if (payload === null) return `${head}}`
  return `${head},"salt":"${payload.salt}","data":${canonicalJson(payload.data)}}`
}

/** An entry of a record that has no chain as a line. */
export function writePlainLine(entry: JournalEntry, view: JsonObject | null = null): string {
  if (view === null) return `{"entry":${canonicalJson(entry as unknown as JsonObject)}}`
  return `{"entry":${canonicalJson({ ...entry, data: view } as unknown as JsonObject)},"redacted":true}`
}

/** The head that a manifest states for a chain. */
export function headOf(entries: readonly SealedEntry[]): ChainHead | null {
  const last = entries.at(-1)
  return last === undefined ? null : { chain: last.link.run, seq: last.link.seq, hash: last.hash }
}
