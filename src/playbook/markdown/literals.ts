import type { MarkdownBlock } from '../../document/markdown-block.ts'
import type { AgentDraft } from './program-draft.ts'
import { isWord } from './ending-form.ts'
import { wordKey } from './words.ts'

const returnForm = /^return\s+(?:"([^"]*)"|'([^']*)'|(\S+?))\.?$/i
const givenForm =
  /^(?:set\s+)?\$?([\p{L}_][\p{L}\p{N}_]*)\s*(?::\s*\p{L}+\s*)?(?:=(?!=)|\bis\b|\bto\b)\s*(.+)$/iu
const callName = /^(?:call\s+)?(?:[\p{L}_][\p{L}\p{N}_]*\.)?([\p{L}_][\p{L}\p{N}_]*)\s*\(/iu

interface Literals {
  /** By agent and variable. */
  readonly assigned: Map<string, Set<string>>
  /** The playbooks whose results a variable gets. */
  readonly called: Map<string, Set<string>>
  /** By playbook. */
  readonly returned: Map<string, Set<string>>
}

/**
 * The texts that a program gives each variable: by assigning them, or by assigning what a playbook returns that returns them. Only
 * with such a text can `$status is open` be compared. Nothing is looked for before somebody asks: few programs compare so.
 */
export function literalsIn(
  drafts: readonly AgentDraft[],
): (agent: string, name: string) => ReadonlySet<string> {
  let literals: Literals | null = null
  return (agent, name) => {
    literals ??= collectLiterals(drafts)
    const { assigned, called, returned } = literals
    const key = `${agent} ${name}`
    const own = assigned.get(key) ?? new Set<string>()
    return new Set([
      ...own,
      ...[...(called.get(key) ?? [])].flatMap((each) => [...(returned.get(each) ?? [])]),
    ])
  }
}

function collectLiterals(drafts: readonly AgentDraft[]): Literals {
  const assigned = new Map<string, Set<string>>()
  const called = new Map<string, Set<string>>()
  const returned = new Map<string, Set<string>>()
  for (const agent of drafts) {
    for (const playbook of agent.playbooks) {
      const visit = (blocks: readonly MarkdownBlock[]): void => {
        for (const block of blocks) {
          if (block.kind !== 'item') continue
          visit(block.children)
          const text = block.text.text
          if (text.length > 1000) continue
          const back = returnForm.exec(text)
          const literal =
            back?.[1] ??
            back?.[2] ??
            (back?.[3] !== undefined && (isWord(back[3]) || back[3].endsWith('%')) ? back[3] : undefined)
          if (literal !== undefined) add(returned, wordKey(playbook.signature.name), literal)
          const given = givenForm.exec(text)
          if (given === null) continue
          const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(given[2]!)
          const key = `${agent.name} ${given[1]!}`
          if (quoted !== null) add(assigned, key, quoted[1] ?? quoted[2]!)
          const name = callName.exec(given[2]!)?.[1]
          if (name !== undefined) add(called, key, wordKey(name))
        }
      }
      visit(playbook.steps ?? [])
    }
  }
  return { assigned, called, returned }
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key)
  if (set === undefined) map.set(key, new Set([value]))
  else set.add(value)
}
