import type { z } from 'zod'
import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import type { Json } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { type Wording, clip, member } from './wording.ts'

const mostReported = 1_000

/** The paths at which a value does not have the shape of the schema; each was reported in words. */
export function checkShape(
  value: Json,
  schema: z.ZodType,
  context: { report: Report; wording: Wording },
): readonly DocumentPath[] {
  const result = schema.safeParse(value)
  if (result.success) return []
  const reported = new Set<string>()
  return result.error.issues.flatMap((issue) => {
    // A list of half a million wrong items is not worth half a million sentences.
    if (reported.size >= mostReported) return [issue.path as DocumentPath]
    return closest(issue, [], value).map((found) => {
      const path = found.path as DocumentPath
      if (reported.size >= mostReported) return path
      const identity = JSON.stringify([path, found.message])
      // Two rules of one value (length and pattern of a name) say the same thing.
      if (!reported.has(identity)) reportIssue(found, path, valueAt(value, path), context)
      reported.add(identity)
      return path
    })
  })
}

type Issue = z.core.$ZodIssue

/** The issues of the one alternative that was meant, if that is clear; else the issue that none fits. */
function closest(issue: Issue, above: readonly PropertyKey[], root: Json): Issue[] {
  const path = [...above, ...issue.path]
  const here = { ...issue, path }
  if (issue.code !== 'invalid_union') return [here]
  // A word that is not in a list of words was still meant as one of them.
  const isText = typeof valueAt(root, path as DocumentPath) === 'string'
  const rejected = (errors: readonly Issue[]) =>
    errors.some(
      (error) =>
        error.path.length === 0 &&
        (error.code === 'invalid_type' ||
          error.code === 'custom' ||
          (error.code === 'invalid_value' && !isText)),
    )
  const candidates = issue.errors.filter((errors) => !rejected(errors))
  const fewest = Math.min(...candidates.map((errors) => errors.length))
  const best = candidates.filter((errors) => errors.length === fewest)
  return best.length === 1 ? best[0]!.flatMap((error) => closest(error, path, root)) : [here]
}

function reportIssue(
  issue: Issue,
  path: DocumentPath,
  value: Json | undefined,
  { report, wording }: { report: Report; wording: Wording },
): void {
  const place = wording.place(path)
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union':
    case 'custom':
      if (value === undefined) {
        report('missing_key', path.slice(0, -1), `${place} is missing`)
      } else {
        const suggestion = adviceFor(issue, value, path)
        report('wrong_type', path, `${place} ${issue.message}, not ${describe(value)}`, { suggestion })
      }
      return
    case 'invalid_key':
      report(
        'invalid_name',
        path,
        `the name \`${clip(String(path.at(-1)))}\` ${issue.issues[0]?.message ?? 'is not valid'}`,
        {
          at: 'key',
        },
      )
      return
    case 'invalid_format':
      report('invalid_name', path, `${place} ${issue.message}`, {
        suggestion: value === '' ? 'it is empty' : null,
      })
      return
    case 'too_small':
    case 'too_big': {
      const code = issue.origin === 'string' && issue.code === 'too_big' ? 'invalid_name' : 'out_of_range'
      const got = typeof value === 'number' ? `, not ${value}` : ''
      report(code, path, `${place} ${issue.message}${got}`)
      return
    }
    case 'invalid_value': {
      if (value === undefined) {
        report('missing_key', path.slice(0, -1), `${place} is missing`)
        return
      }
      const nearest = typeof value === 'string' ? nearestName(value, issue.values.map(String)) : null
      report('value_not_allowed', path, `${place} ${issue.message}, not ${describe(value)}`, {
        suggestion: nearest === null ? null : `did you mean \`${nearest}\`?`,
      })
      return
    }
    case 'unrecognized_keys':
      for (const key of issue.keys)
        report('unknown_key', [...path, key], `unknown key \`${clip(key)}\` in ${place}`, { at: 'key' })
      return
    default:
      report('wrong_type', path, `${place} ${issue.message}`)
  }
}

function adviceFor(issue: Issue, value: Json, path: DocumentPath): string | null {
  const key = path.at(-1)
  if (key === 'retry' && typeof value === 'number') return `write it as { attempts: ${value} }`
  if (key === 'compensate' && typeof value === 'string') return `write it as { tool: ${clip(value)} }`
  if (key === 'verify' && typeof value === 'string') return 'write it as { tool: ..., expect: ... }'
  if (key === 'foreach' && Array.isArray(value))
    return `write it as a placeholder: '{${clip(JSON.stringify(value))}}'`
  const wantsText = issue.code === 'invalid_type' && issue.expected === 'string'
  if (wantsText && (typeof value === 'number' || typeof value === 'boolean'))
    return `write it in quotes: "${value}"`
  if (issue.code === 'invalid_type' && issue.expected === 'array' && typeof value === 'string') {
    // A command is written as one text elsewhere; here no shell takes it apart.
    const parts = path.at(-1) === 'command' ? value.trim().split(/\s+/) : [value]
    return `write it as a list${parts.length > 1 ? ', one element for each argument' : ''}: [${clip(parts.map(inFlow).join(', '))}]`
  }
  return null
}

/** A text as an element of a list in one line; in quotes where it would be read as something else. */
function inFlow(text: string): string {
  return /^[\w./=+-][\w./=+ -]*$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`
}

/** What a value is, in a word or two. */
export function describe(value: Json): string {
  if (value === null) return 'nothing (null)'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? `"${clip(value)}"` : String(value)
}

function valueAt(root: Json, path: DocumentPath): Json | undefined {
  let value: Json | undefined = root
  for (const part of path) value = member(value, part)
  return value
}
