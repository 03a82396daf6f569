/** What the routes about playbooks and those about policies have in common. */
import type { Diagnostic } from '../document/diagnostic.ts'
import { describeDiagnostic } from '../document/diagnostic.ts'
import type { ShelfVersion } from '../platform/checkout.ts'
import type { ShelfPolicy, ShelfRunbook } from '../platform/text-shelf.ts'
import { diffLines } from '../shared/diff-lines.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { iso } from './access-views.ts'
import { Answer } from './handler.ts'
import { RequestError } from './problem.ts'

/** What lists show of every text. */
export function showText({
  id,
  name,
  project,
  versions,
  updatedAt,
  updatedBy,
  archived,
  origin,
}: ShelfRunbook | ShelfPolicy) {
  const { version, digest } = versions.at(-1)!
  return { id, name, project, version, digest, updatedAt: iso(updatedAt), updatedBy, archived, origin }
}

/** A version as it is sent. */
export function showVersion({ version, digest, by, at, note, commit }: ShelfVersion) {
  return { version, digest, by, at: iso(at), note, commit }
}

/** The answer with the version of what it shows, for `If-Match`. */
export function tagged<Body extends { readonly version: number }>(body: Body, status?: 201): Answer<Body> {
  const headers = { etag: `"${body.version}"` }
  return new Answer(body, status === undefined ? { headers } : { headers, status })
}

/** A part of the versions of a text, the newest first; the cursor is the last version that was shown. */
export function pageOfVersions(
  versions: readonly ShelfVersion[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
) {
  const before = cursor === undefined ? Infinity : Number(cursor)
  if (Number.isNaN(before)) throw new RequestError('invalid_request', 'query.cursor: is of another list.')
  const older = versions.toReversed().filter(({ version }) => version < before)
  const items = older.slice(0, limit).map(showVersion)
  return { items, next: older.length > limit ? String(items.at(-1)!.version) : null }
}

/** The version, which is there. Throws `not_found`. */
export function versionOf(versions: readonly ShelfVersion[], wanted: number): ShelfVersion {
  const found = versions.find(({ version }) => version === wanted)
  if (found === undefined) throw new LockstepError('not_found', `There is no version ${wanted}.`)
  return found
}

/** What changed from one version to another. */
export function showDiff(from: number, to: number, before: string, after: string) {
  return { from, to, lines: diffLines(before, after) }
}

/** Throws the code with every error and its place, if there is one. */
export function refuseErrors(
  code: 'invalid_playbook' | 'invalid_policy',
  diagnostics: readonly Diagnostic[],
): void {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first === undefined) return
  const more = errors.length === 1 ? '' : `, and ${errors.length - 1} more`
  throw new RequestError(
    code,
    `${first.line === null ? '' : `Line ${first.line}: `}${first.message}${more}`,
    {
      errors: errors.slice(0, 200).map((each) => ({
        path: each.line === null ? 'text' : `text:${each.line}:${each.column}`,
        message: `${each.code}: ${describeDiagnostic(each)}`,
      })),
    },
  )
}

/** Says whether what people look for is in one of the texts. */
export function matches(search: string | undefined, ...texts: readonly string[]): boolean {
  if (search === undefined) return true
  const wanted = search.toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(wanted))
}
