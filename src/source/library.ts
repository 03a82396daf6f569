/**
 * The library of published playbooks and policies.
 *
 * Owns: the folder `library` of a data folder: `published.jsonl`, which says what was published when, and `texts`, by digest.
 *
 * Invariants
 * P1  A version is its digest: what was published under one is never another text. Every text that is read is digested again.
 * P2  The index only grows: what was published stays there, line for line.
 * P3  A tree is published as a whole or not at all, by one writer at a time: the texts first, then all lines of the index at once.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { dataFolder, makeFolder } from './data-folder.ts'
import { LockHeldError, withFileLock } from './file-lock.ts'
import { writeWholeFile } from './write-whole-file.ts'

const digestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const partSchema = z.strictObject({ path: z.string(), digest: digestSchema })
const versionSchema = z.strictObject({
  format: z.literal(1),
  kind: z.enum(['playbook', 'policy']),
  name: z.string().min(1),
  digest: digestSchema,
  text: digestSchema,
  parts: z.array(partSchema),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?(?:\+dirty)?$/)
    .nullable(),
  root: z.string(),
  path: z.string(),
  at: z.string(),
  by: z.string(),
})

/** What can be published. */
export type PublishedKind = 'playbook' | 'policy'

/**
 * One line of the index. `path` is found from `root`, the top of the work tree; `commit` is null outside Git and ends in `+dirty` where the tree
 * had changes that no commit has. `parts` are what a Markdown playbook imports and its lock file, found from its folder.
 */
export type PublishedVersion = Readonly<z.infer<typeof versionSchema>>

/** A text that can be published. */
export interface Publishable {
  readonly kind: PublishedKind
  readonly name: string
  /** From the top of the work tree, with slashes. */
  readonly path: string
  readonly text: string
  /** By their paths from the folder of the text, with slashes. */
  readonly parts: ReadonlyMap<string, string>
}

/** Where texts come from, and who publishes them. */
export interface Origin {
  readonly root: string
  readonly commit: string | null
  readonly at: string
  readonly by: string
}

/** A version with its text and the texts it needs. */
export interface PublishedText {
  readonly version: PublishedVersion
  readonly text: string
  readonly parts: ReadonlyMap<string, string>
}

/** The digest of a version: of its text where that is all, else of its text and parts together. */
export function versionDigest({ text, parts }: Pick<Publishable, 'text' | 'parts'>): string {
  return digestOf(digest(text), partsOf(parts))
}

/** The library of a data folder. Opening it reads and makes nothing. */
export class Library {
  readonly folder: string
  readonly #index: string

  constructor(home: string = dataFolder()) {
    this.folder = join(home, 'library')
    this.#index = join(this.folder, 'published.jsonl')
  }

  /** Everything that was published, the oldest first. Throws `library_unreadable`. */
  versions(): readonly PublishedVersion[] {
    const lines = this.#readIndex().split('\n')
    // A whole index ends in a line break.
    if (lines.pop() !== '') throw this.#unreadable(this.#index, 'is cut off')
    return lines.map((line, index) => this.#version(line, index + 1))
  }

  /** The text of a version and its parts. Throws `library_unreadable` if one is missing or is not what was published (P1). */
  read(version: PublishedVersion): PublishedText {
    const parts = version.parts.map((part) => [part.path, this.#text(part.digest)] as const)
    return { version, text: this.#text(version.text), parts: new Map(parts) }
  }

  /**
   * Publishes those of the texts that `choose` picks, given all versions there are; texts of the others that are missing or damaged are written
   * again. Throws `library_unreadable`, `library_unwritable`, and then nothing was published.
   */
  async publish<Plan extends { readonly publish: readonly Publishable[] }>(
    all: readonly Publishable[],
    origin: Origin,
    choose: (versions: readonly PublishedVersion[]) => Plan,
  ): Promise<Plan> {
    try {
      makeFolder(this.folder)
      return await withFileLock(this.#index, () => {
        const plan = choose(this.versions())
        for (const { text, parts } of all) for (const each of [text, ...parts.values()]) this.#keep(each)
        const lines = plan.publish.map((each) => `${canonicalJson(versionOf(each, origin))}\n`)
        if (lines.length > 0) writeWholeFile(this.#index, this.#readIndex() + lines.join(''), 0o600)
        return plan
      })
    } catch (cause) {
      if (LockstepError.isInstance(cause)) throw cause
      throw new LockstepError(
        'library_unwritable',
        `The library ${this.folder} cannot be written: ${messageOf(cause)}. Nothing was published.`,
        {
          consequence: 'retry',
          cause,
          hint:
            cause instanceof LockHeldError
              ? `let it finish; if that process is gone, remove ${cause.path}`
              : 'set LOCKSTEP_HOME to a folder that can be written',
        },
      )
    }
  }

  #readIndex(): string {
    try {
      return readFileSync(this.#index, 'utf8')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return ''
      throw this.#unreadable(this.#index, `cannot be read (${code})`)
    }
  }

  #version(line: string, number: number): PublishedVersion {
    try {
      const version = versionSchema.parse(JSON.parse(line))
      if (digestOf(version.text, version.parts) === version.digest) return version
    } catch {
      // Said below, in words that help.
    }
    throw this.#unreadable(this.#index, `says in line ${number} nothing that was published`)
  }

  #path(of: string): string {
    return join(this.folder, 'texts', of.replace(':', '-'))
  }

  #text(of: string): string {
    const path = this.#path(of)
    const text = readText(path)
    if (text === null) throw this.#unreadable(path, 'cannot be read', rewrite)
    if (digest(text) !== of) throw this.#unreadable(path, 'is not the text that was published', rewrite)
    return text
  }

  #keep(text: string): void {
    const path = this.#path(digest(text))
    if (readText(path) === text) return
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeWholeFile(path, text, 0o600)
  }

  #unreadable(
    path: string,
    what: string,
    hint = 'restore it from a copy; nothing was changed',
  ): LockstepError {
    return new LockstepError('library_unreadable', `${path} ${what}.`, { consequence: 'pause', hint })
  }
}

const rewrite = 'lockstep apply on the commit it was published from writes it again'

function readText(path: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch {
    return null
  }
}

function versionOf(publishable: Publishable, origin: Origin): PublishedVersion {
  const { kind, name, path, text } = publishable
  const parts = partsOf(publishable.parts)
  return {
    format: 1,
    kind,
    name,
    digest: digestOf(digest(text), parts),
    text: digest(text),
    parts,
    commit: origin.commit,
    root: origin.root,
    path,
    at: origin.at,
    by: origin.by,
  }
}

type Part = z.infer<typeof partSchema>

function partsOf(parts: ReadonlyMap<string, string>): Part[] {
  return [...parts]
    .map(([path, text]) => ({ path, digest: digest(text) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

function digestOf(text: string, parts: readonly Part[]): string {
  return parts.length === 0 ? text : digest(canonicalJson({ text, parts: [...parts] }))
}
