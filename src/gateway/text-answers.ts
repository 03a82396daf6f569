/** What the routes about playbooks and those about policies have in common. */
import type { Diagnostic } from '../document/diagnostic.ts'
import { describeDiagnostic } from '../document/diagnostic.ts'
import type { ShelfPolicy, ShelfRunbook } from '../platform/text-shelf.ts'
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

/** The answer with the version of what it shows, for `If-Match`. */
export function tagged<Body extends { readonly version: number }>(body: Body, status?: 201): Answer<Body> {
  const headers = { etag: `"${body.version}"` }
  return new Answer(body, status === undefined ? { headers } : { headers, status })
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
