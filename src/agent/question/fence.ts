import type { Json } from '../../shared/json.ts'

/**
 * A value as JSON on one line that cannot be taken for anything else: it holds no `<`, so it closes no fence, and no line break, so it
 * begins no line of its own. Characters that a model reads and a person does not see are written out.
 */
export function dataLine(value: Json): string {
  return JSON.stringify(value).replace(/<|[\u{e0000}-\u{e007f}]/gu, writeOut)
}

function writeOut(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Material that others wrote, one line each, between marks that it cannot contain. */
export function fenceData(about: string, lines: readonly string[]): string {
  return `<data about="${about}">\n${lines.map((line) => `${line}\n`).join('')}</data>`
}

/** The tags of a prompt. */
const tag = /<(?=\s*\/?\s*(?:data|agent|playbook|notes)\b)/gi

/** What the playbook's author wrote, between marks of its own; values that were filled in cannot close them. */
export function fenceText(name: 'agent' | 'playbook' | 'notes', text: string): string {
  return `<${name}>\n${text.replace(tag, '&lt;')}\n</${name}>`
}
