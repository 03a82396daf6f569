/**
 * The address of a request, from a text with placeholders.
 *
 * Invariants
 * U1  Scheme, host and port are those of the text: no placeholder stands before the path.
 * U2  A value fills in part of one path segment or of one query value. It never adds a segment, a query or a fragment, and never
 *     makes a segment "." or "..", which a server would take as a step up.
 * U3  Whatever the parser of addresses would change is refused, so that what was judged is what is asked for.
 */
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { Json } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import {
  type CallValues,
  type ToolTemplate,
  compileJsonTemplate,
  compileToolTemplate,
  fillValue,
  plainText,
} from '../tool-template.ts'

/** Makes the address of each request. */
export type RequestUrl = (values: CallValues) => URL

/** Compiles the address of a tool. Throws `invalid_tool` if a placeholder could change where requests go (U1). */
export function compileRequestUrl(
  url: string,
  query: Readonly<Record<string, Json>>,
  tool: string,
): RequestUrl {
  const template = compileToolTemplate(url, `The url of '${tool}'`)
  const [first] = template.compiled.parts
  const start = typeof first === 'string' ? /^https?:\/\/[^/?#\\@{}\s]+(?=[/?]|$)/.exec(first) : null
  const onlyHost = start !== null && start[0] === first && template.compiled.parts.length > 1
  if (start === null || onlyHost || !URL.canParse(start[0])) {
    throw new LockstepError(
      'invalid_tool',
      `${template.what} must begin with http:// or https:// and a host, without placeholders, user or password.`,
    )
  }
  const { origin } = new URL(start[0])
  const parameters = Object.entries(query).map(
    ([name, value]) => [name, compileJsonTemplate(value, `The query '${name}' of '${tool}'`)] as const,
  )
  return (values) => {
    const address = confine(template, origin, start[0].length, values)
    for (const [name, fill] of parameters) {
      const value = fill(values)
      for (const item of Array.isArray(value) ? value : [value]) {
        // A parameter without a value is left out: `{default(args.page, null)}`.
        if (item !== null)
          address.searchParams.append(name, plainText(item as Json, `The query '${name}' of '${tool}'`))
      }
    }
    return address
  }
}

function confine(template: ToolTemplate, origin: string, pathAt: number, values: CallValues): URL {
  let inPath = true
  const written = template.compiled.parts
    .map((part) => {
      if (typeof part === 'string') {
        if (part.includes('?')) inPath = false
        return part
      }
      const value = fillValue(part, template.what, values)
      if (inPath) refuseStepUp(value, template.what)
      return encode(value, template.what)
    })
    .join('')
    .slice(pathAt)
  const expected = written.startsWith('/') ? written : `/${written}`
  const address = new URL(origin + expected)
  if (address.origin === origin && address.pathname + address.search === expected && address.hash === '')
    return address
  throw new ToolFailure(`${template.what} would become another path: "." and ".." cannot be filled in`)
}

/** Something on the way may decode a value before it reads the path: a step up is refused in every writing. */
function refuseStepUp(value: Json, what: string): void {
  if (typeof value !== 'string' || !value.split(/[\\/]/).some((part) => part === '..' || part === '.')) return
  throw new ToolFailure(`${what} would become another path: "." and ".." cannot be filled in`)
}

/** A value as part of one segment; an empty one would take the segment away. */
function encode(value: Json, what: string): string {
  const text = plainText(value, what)
  if (text === '') throw new ToolFailure(`${what} cannot be filled in with an empty text`)
  if (!text.isWellFormed()) throw new ToolFailure(`${what} cannot be filled in with half of a character`)
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
