import type { Explanation, FlowNode } from './explanation.ts'

const longest = 80

/** The flow as a Mermaid flowchart. Whatever a playbook says, its words are only ever labels. */
export function writeMermaid({ playbooks, flow }: Pick<Explanation, 'playbooks' | 'flow'>): string {
  const lines = ['flowchart TD']
  const nodes = Map.groupBy(flow.nodes, ({ playbook }) => playbook)
  for (const [index, { id, heading }] of playbooks.entries()) {
    lines.push(`  subgraph g${index + 1}["${label(heading)}"]`)
    for (const node of nodes.get(id) ?? []) lines.push(`    ${node.id}${shaped(node)}`)
    lines.push('  end')
  }
  for (const { from, to, label: words, kind } of flow.edges) {
    const arrow = kind === 'call' ? '-.->' : '-->'
    lines.push(`  ${from} ${arrow}${words === null ? '' : `|"${label(words)}"|`} ${to}`)
  }
  return `${lines.join('\n')}\n`
}

function shaped({ shape, label: words }: FlowNode): string {
  const text = `"${label(words)}"`
  switch (shape) {
    case 'start':
    case 'stop':
      return `([${text}])`
    case 'decide':
      return `{${text}}`
    case 'loop':
      return `{{${text}}}`
    case 'ask':
      return `[/${text}/]`
    case 'model':
      return `[[${text}]]`
    case 'do':
      return `[${text}]`
  }
}

/** A label's text: everything but letters, digits and harmless marks becomes a character code, so that nothing is syntax. */
function label(words: string): string {
  const characters = [...words.replace(/\s+/g, ' ').trim()]
  const cut = characters.length > longest ? [...characters.slice(0, longest - 1), '…'] : characters
  return cut
    .map((character) =>
      /[\p{L}\p{M}\p{N} ,.$=+!?…'-]/u.test(character) ? character : `#${character.codePointAt(0)};`,
    )
    .join('')
}
