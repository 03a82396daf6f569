/** Code blocks declare functions that the host supplies; nothing in them is ever run. */
import type { MarkdownCode } from '../../document/markdown-block.ts'
import type { Parameter, ValueType } from '../program.ts'
import { literalValue, splitTopLevel, typeNamed } from './signature.ts'

/** A function as declared in a block of code. */
export interface HostFunction {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returns: ValueType | null
  readonly description: string
  readonly triggers: readonly string[]
  readonly public: boolean
  readonly line: number
}

/** The functions that a block declares: in Python those under `@playbook`, in TypeScript those that are exported. */
export function hostFunctions(block: MarkdownCode): HostFunction[] {
  return ['python', 'py'].includes(block.language) ? pythonFunctions(block) : scriptFunctions(block)
}

function pythonFunctions(block: MarkdownCode): HostFunction[] {
  const found: HostFunction[] = []
  const source = block.content.text
  let decorator: string | null = null
  let at = 0
  while (at < source.length) {
    const next = source.indexOf('\n', at)
    const end = next === -1 ? source.length : next
    const line = source.slice(at, end)
    if (/^@playbook\b/.test(line)) {
      const open = source.indexOf('(', at)
      const close = open !== -1 && open < end ? closing(source, open) : end
      decorator = source.slice(at, close + 1)
      at = Math.max(end, close) + 1
      continue
    }
    const head = /^(?:async\s+)?def\s+([A-Za-z_]\w*)\s*\(/.exec(line)
    if (head !== null) {
      if (decorator !== null)
        found.push(pythonFunction(head[1]!, source, at + head[0].length - 1, decorator, block, at))
      decorator = null
    } else if (line !== '' && !/^[@\s#)]/.test(line)) decorator = null
    at = end + 1
  }
  return found
}

function pythonFunction(
  name: string,
  source: string,
  open: number,
  decorator: string,
  block: MarkdownCode,
  at: number,
): HostFunction {
  const close = closing(source, open)
  const after = source.slice(close + 1, close + 2001)
  const returns = /^\s*->\s*([^:\n]+):/.exec(after)?.[1]
  const doc = /^[^:\n]*:\s*(?:#.*)?\n\s*(?:"""|''')([\s\S]*?)(?:"""|''')/.exec(after)?.[1] ?? ''
  const triggers = /triggers\s*=\s*\[([\s\S]*?)\]/.exec(decorator)?.[1] ?? ''
  return {
    name,
    parameters: splitTopLevel(source.slice(open + 1, close)).flatMap(parameterOf),
    returns: returns === undefined ? null : typeNamed(returns),
    description: doc.replace(/\s+/g, ' ').trim(),
    triggers: [...triggers.matchAll(/"([^"]*)"|'([^']*)'/g)].map((each) => each[1] ?? each[2]!),
    public: /public\s*=\s*True/.test(decorator),
    line: lineAt(block, at),
  }
}

function scriptFunctions(block: MarkdownCode): HostFunction[] {
  const source = block.content.text
  const found: HostFunction[] = []
  for (const head of source.matchAll(/^export\s+(?:async\s+)?function\s+([A-Za-z_$][\w$]*)\s*\(/gm)) {
    const open = head.index + head[0].length - 1
    const close = closing(source, open)
    const before = source.slice(Math.max(0, head.index - 2000), head.index)
    const doc = /\/\*\*([\s\S]*?)\*\/\s*$/.exec(before.slice(before.lastIndexOf('/**')))?.[1] ?? ''
    const returns = /^\s*:\s*(?:Promise<)?([A-Za-z]+)/.exec(source.slice(close + 1, close + 200))?.[1]
    found.push({
      name: head[1]!,
      parameters: splitTopLevel(source.slice(open + 1, close)).flatMap(parameterOf),
      returns: returns === undefined ? null : typeNamed(returns),
      description: doc
        .replace(/^\s*\*/gm, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
      triggers: [],
      public: false,
      line: lineAt(block, head.index),
    })
  }
  return found
}

function parameterOf(part: string): Parameter[] {
  const found = /^\s*([A-Za-z_]\w*)\s*(\?)?\s*(?::\s*([^=]+?))?\s*(?:=\s*([\s\S]+))?$/.exec(part)
  if (found === null || found[1] === 'self' || found[1] === 'cls') return []
  const type = (found[3] === undefined ? null : typeNamed(found[3])) ?? 'any'
  const given = found[4] === undefined ? undefined : (literalValue(found[4]) ?? null)
  const value = given === undefined && found[2] === '?' ? null : given
  return [value === undefined ? { name: found[1]!, type } : { name: found[1]!, type, default: value }]
}

/** Where the parenthesis closes that opens there; the end of the text where none does. */
function closing(text: string, open: number): number {
  let depth = 0
  let quote = ''
  for (let at = open; at < text.length; at++) {
    const sign = text[at]!
    if (quote !== '') {
      if (sign === '\\') at++
      else if (sign === quote) quote = ''
    } else if (sign === '"' || sign === "'") quote = sign
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign) && --depth === 0) return at
  }
  return text.length
}

function lineAt(block: MarkdownCode, at: number): number {
  let low = 0
  let high = block.content.pieces.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (block.content.pieces[middle]!.at <= at) low = middle
    else high = middle - 1
  }
  return block.content.pieces[low]?.line.number ?? block.fence.number
}
