import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'

const pages = ['../../docs/reference/markdown.md', '../../docs/guide/markdown-playbooks.md']
const tools = [
  { name: 'GetOrderStatus', parameters: ['order_id'], risk: 'read' as const },
  { name: 'lookup_order', parameters: ['order_number'], risk: 'read' as const },
  { name: 'hand_over', parameters: ['order_number', 'reason'], risk: 'write' as const },
]

/** The playbooks that a page shows whole. */
function programsIn(page: string): string[] {
  const text = readFileSync(new URL(page, import.meta.url), 'utf8')
  return [...text.matchAll(/^```markdown\n([\s\S]*?)^```$/gm)]
    .map((found) => found[1]!)
    .filter((each) => each.includes('### Steps'))
}

test.each(pages)('the first playbook that %s shows is read without an error', (page) => {
  const [first] = programsIn(page)
  const { diagnostics } = parseProgram([{ file: 'a.md', text: first! }], { tools })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
})
