import type { MarkdownBlock } from '../../document/markdown-block.ts'
import { sectionNamed } from './program-draft.ts'

/**
 * Says whether a document is meant as a program: a playbook has a section Steps or Triggers, parameters with `$`, or a mode. The
 * headings of an ordinary document, even with bullets below them, make none; a `.pb` file is one if it has any playbook.
 */
export function isProgram(blocks: readonly MarkdownBlock[], byName: boolean): boolean {
  let playbooks = 0
  return (
    blocks.some((block, index) => {
      if (block.kind === 'code') return /^@playbook\b/m.test(block.content.text)
      if (block.kind === 'paragraph')
        return playbooks > 0 && /^(?:execution_mode:\s|public:\s*true$)/m.test(block.text.text)
      if (block.kind !== 'heading') return false
      const section = sectionNamed(block.text.text)
      const next = blocks[index + 1]?.kind
      if (block.level === 3)
        return playbooks > 0 && (section === 'triggers' || (section === 'steps' && next === 'item'))
      if (block.level !== 2) return false
      if (section === null) playbooks += 1
      return section === null
        ? /\(\s*\$[\p{L}_]/u.test(block.text.text)
        : section === 'triggers' && next === 'item'
    }) ||
    (byName && playbooks > 0)
  )
}
