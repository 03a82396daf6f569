import { type MarkdownBlock, type MarkdownText } from '../../document/markdown-block.ts'
import { nodeValue } from '../../document/document-node.ts'
import { parseYaml } from '../../document/parse-yaml.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import { type Findings } from './findings.ts'
import { textsOf } from './join-texts.ts'

const agentKeys = [
  'model',
  'tools',
  'name',
  'startup_mode',
  'remote',
  'delivery_channel',
  'meeting_notifications',
  'buffer_timeout',
  'max_turns',
  'public',
]
const playbookKeys = [
  'public',
  'export',
  'hidden',
  'execution_mode',
  'meeting',
  'required_attendees',
  'optional_attendees',
  'model',
  'tools',
  'max_turns',
  'max_calls',
  'cli_entry',
]
const values: Readonly<Record<string, (value: Json) => string | null>> = {
  public: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  execution_mode: (value) => (value === 'raw' || value === 'react' ? null : 'must be `raw` or `react`'),
  tools: (value) =>
    Array.isArray(value) && value.every((each) => typeof each === 'string')
      ? null
      : 'must be a list of names, such as `[lookup_order, refund]`',
  max_turns: (value) => (isCount(value) ? null : 'must be a whole number from 1 to 10000'),
  max_calls: (value) => (isCount(value) ? null : 'must be a whole number from 1 to 10000'),
  model: (value) => (typeof value === 'string' ? null : 'must be a text'),
}

/** Says whether a value can be a bound: a whole number from 1 to 10000. */
export function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 10_000
}

const noMetadata: JsonObject = Object.freeze(Object.create(null))
const anyKey = /^[a-z][a-z0-9_]*:/m

/**
 * Takes the lines `key: value` out of a description. A line with an unknown key stays in the description, with a warning: it may
 * be prose.
 */
export function readMetadata(
  blocks: readonly MarkdownBlock[],
  owner: 'agent' | 'playbook',
  findings: Findings,
  quiet = false,
): { metadata: JsonObject; description: MarkdownText[] } {
  const known = owner === 'agent' ? agentKeys : playbookKeys
  let metadata: Record<string, Json> | null = null
  const description: MarkdownText[] = []
  for (const block of blocks) {
    if (block.kind !== 'paragraph') {
      description.push(...textsOf([block]))
      continue
    }
    if (!anyKey.test(block.text.text)) {
      description.push(block.text)
      continue
    }
    const kept: number[] = []
    const lines = block.text.text.split('\n')
    let under: { column: number } | null = null
    for (let at = 0; at < lines.length; at++) {
      const piece = block.text.pieces[at]!
      const found = /^([a-z][a-z0-9_]*):(?:\s+(.*))?$/.exec(lines[at]!)
      if (found === null || !known.includes(found[1]!)) {
        if (under !== null && piece.column > under.column) continue
        under = null
        kept.push(at)
        if (found !== null && !quiet)
          warnUnknown(
            found[1]!,
            found[2] ?? '',
            known,
            { text: block.text, start: piece.at, end: piece.at + found[1]!.length },
            findings,
          )
        continue
      }
      under = piece
      let source = lines[at]!
      while (at + 1 < lines.length && block.text.pieces[at + 1]!.column > piece.column) {
        at += 1
        source += `\n${' '.repeat(block.text.pieces[at]!.column - piece.column)}${lines[at]!}`
      }
      const value = yamlMember(source, found[1]!)
      const place = { text: block.text, start: piece.at, end: piece.at + lines[at]!.length }
      const problem = value === undefined ? 'is not YAML' : (values[found[1]!]?.(value) ?? null)
      if (problem !== null) {
        if (!quiet) findings.error('value_not_allowed', place, `\`${found[1]!}\` ${problem}`)
      } else if (value !== undefined) {
        metadata ??= Object.create(null) as Record<string, Json>
        metadata[found[1]!] = value
      }
    }
    if (kept.length > 0) description.push(linesOf(block.text, lines, kept))
  }
  return { metadata: metadata ?? noMetadata, description }
}

function warnUnknown(
  key: string,
  value: string,
  known: readonly string[],
  place: { text: MarkdownText; start: number; end: number },
  findings: Findings,
): void {
  const near = nearestName(key, known)
  // A word and a colon is good prose; only what looks like a setting is worth a warning.
  if (near === null && !key.includes('_') && !/^(?:true|false|\d+|\[.*\])$/.test(value)) return
  const message = `\`${key}\` is no key that is known here; the line is read as part of the description`
  findings.warn('unknown_key', place, message, near === null ? null : `did you mean \`${near}\`?`)
}

function yamlMember(source: string, key: string): Json | undefined {
  const plain = /^[a-z_0-9]+:\s+(true|false|\d{1,9}|[a-z]+)$/.exec(source)?.[1]
  // Most values are one word; no parser is needed to see which.
  if (plain === 'true' || plain === 'false') return plain === 'true'
  if (plain !== undefined && /^(?:0|[1-9]\d*)$/.test(plain)) return Number(plain)
  if (plain === 'raw' || plain === 'react') return plain
  const { root, problems } = parseYaml(source)
  if (root?.kind !== 'map' || problems.length > 0) return undefined
  const entry = root.entries.get(key)
  return entry === undefined ? undefined : nodeValue(entry.value)
}

function linesOf(text: MarkdownText, lines: readonly string[], kept: readonly number[]): MarkdownText {
  if (kept.length === lines.length) return text
  const pieces: MarkdownText['pieces'][number][] = []
  let length = 0
  for (const at of kept) {
    pieces.push({ ...text.pieces[at]!, at: length })
    length += lines[at]!.length + 1
  }
  return { text: kept.map((at) => lines[at]!).join('\n'), first: pieces[0]!.line, pieces }
}
