import type { Principal } from '../directory/principal.ts'
import type { ShelfVersion } from '../platform/checkout.ts'
import type { ShelfPolicy, ShelfRunbook, TextShelf } from '../platform/text-shelf.ts'
import { diffLines } from '../shared/diff-lines.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { iso } from './access-views.ts'
import { RequestError } from './problem.ts'

/** Who asks, and about which text. */
interface Asked {
  readonly principal: Principal
  readonly project: string | null
  readonly params: { readonly id: string }
}

/** Answers about the versions of texts, which `find` finds for who may read them: the same for playbooks and for policies. */
export function versionAnswers(
  texts: TextShelf,
  find: (asked: Asked, id: string) => Promise<ShelfRunbook | ShelfPolicy>,
) {
  const open = async (asked: Asked, wanted: number) => {
    const text = await find(asked, asked.params.id)
    const version = versionOf(text.versions, wanted)
    return { version, text: await texts.text(asked.principal.tenant, text, version.version) }
  }
  return {
    list: async (asked: Asked & { readonly query: Paging }) =>
      pageOfVersions((await find(asked, asked.params.id)).versions, asked.query),
    get: async (asked: Asked & { readonly params: { readonly version: number } }) => {
      const { version, text } = await open(asked, asked.params.version)
      return { ...showVersion(version), text }
    },
    diff: async (asked: Asked & { readonly query: { readonly from: number; readonly to: number } }) => {
      const { from, to } = asked.query
      const [before, after] = [await open(asked, from), await open(asked, to)]
      return { from, to, lines: diffLines(before.text, after.text) }
    },
  }
}

interface Paging {
  readonly cursor?: string | undefined
  readonly limit: number
}

/** A version as it is sent. */
function showVersion({ version, digest, by, at, note, commit }: ShelfVersion) {
  return { version, digest, by, at: iso(at), note, commit }
}

/** A part of the versions of a text, the newest first; the cursor is the last version that was shown. */
function pageOfVersions(versions: readonly ShelfVersion[], { cursor, limit }: Paging) {
  const before = cursor === undefined ? Infinity : Number(cursor)
  if (Number.isNaN(before)) throw new RequestError('invalid_request', 'query.cursor: is of another list.')
  const older = versions.toReversed().filter(({ version }) => version < before)
  const items = older.slice(0, limit).map(showVersion)
  return { items, next: older.length > limit ? String(items.at(-1)!.version) : null }
}

/** The version, which is there. Throws `not_found`. */
function versionOf(versions: readonly ShelfVersion[], wanted: number): ShelfVersion {
  const found = versions.find(({ version }) => version === wanted)
  if (found === undefined) throw new LockstepError('not_found', `There is no version ${wanted}.`)
  return found
}
