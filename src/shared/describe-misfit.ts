import type { OutputUnit } from '@cfworker/json-schema'

/** Keywords that only say that something inside them is wrong. */
const wrappers: ReadonlySet<string> = new Set(
  '$ref allOf properties patternProperties additionalProperties unevaluatedProperties propertyNames items prefixItems unevaluatedItems if dependentSchemas'.split(
    ' ',
  ),
)

const phrases: readonly (readonly [RegExp, string])[] = [
  [/^Instance type "(.*?)" is invalid\. Expected (.*)\.$/, 'must be $2, not $1'],
  [/^Instance does not have required property "(.*)"\.$/, 'lacks `$1`'],
  [/^Instance does not match any of (.*)\.$/s, 'must be one of $1'],
  [/^Instance does not match any subschemas\.$/, 'fits none of the alternatives'],
  [
    /^Instance does not match exactly one subschema \((\d+) matches\)\.$/,
    'must fit exactly one of the alternatives, and fits $1',
  ],
  [/^Instance does not match (\W.*|".*"|\w+)\.$/s, 'must be $1'],
  [/^Instance matched "not" schema\.$/, 'has a form that is excluded'],
  [/^Instance has "(.*)" but does not have "(.*)"\.$/, 'has `$1`, so it must have `$2`'],
  [/^String is too long \((\d+) > (\d+)\)\.$/, 'is too long: $1 characters, at most $2'],
  [/^String is too short \((\d+) < (\d+)\)\.$/, 'is too short: $1 characters, at least $2'],
  [/^Array has too many items \((\d+) > (\d+)\)\.$/, 'has too many items: $1, at most $2'],
  [/^Array has too few items \((\d+) < (\d+)\)\.$/, 'has too few items: $1, at least $2'],
  [/^String does not match pattern\.$/, 'does not match the pattern'],
  [/^String does not match format "(.*)"\.$/, 'is not a valid $1'],
  [/^(\S+) is less than (\S+)\.$/, 'is $1, less than $2'],
  [/^(\S+) is greater than (or equal to )?(\S+)\.$/, 'is $1, more than $3'],
  [/^False boolean schema\.$/, 'is not allowed'],
]

/** Where the validator's own words are wrong or say little. */
const byKeyword: Readonly<Record<string, string>> = {
  exclusiveMinimum: 'is $1, and must be more than $2',
  exclusiveMaximum: 'is $1, and must be less than $2',
  multipleOf: 'is $1, not a multiple of $2',
  minProperties: 'has too few members',
  maxProperties: 'has too many members',
  contains: 'has no item of the form that is asked for',
}

/** One sentence about a misfit, or null when another misfit says it better. */
export function describeMisfit(error: OutputUnit, all: readonly OutputUnit[]): string | null {
  if (wrappers.has(error.keyword)) return null
  const inAlternative = all.some(
    (other) =>
      (other.keyword === 'anyOf' || other.keyword === 'oneOf') &&
      other !== error &&
      error.keywordLocation.startsWith(`${other.keywordLocation}/`),
  )
  if (inAlternative) return null
  const place = error.instanceLocation.slice(2).split('/').map(unescape).join('.')
  const text = rephrase(error)
  return place === '' ? text : `\`${place}\` ${text}`
}

function rephrase({ keyword, error: text }: OutputUnit): string {
  const fixed = byKeyword[keyword]
  if (fixed !== undefined)
    return text.replace(/^(\S+) is \D*?(-?[\d.e+]+)\.$/, fixed).replace(/^(?:Instance|Array) .*$/, fixed)
  for (const [pattern, phrase] of phrases) {
    if (pattern.test(text))
      return text.replace(pattern, phrase).replaceAll('"', text.startsWith('Instance type') ? '' : '"')
  }
  return text
}

function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
