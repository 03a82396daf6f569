/** docs/guide/markdown-in-code.md: its files are run as they are shown, in a folder of their own, and print what the page says. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const page = readFileSync(new URL('../../docs/guide/markdown-in-code.md', import.meta.url), 'utf8')
const library = new URL('../../src/index.ts', import.meta.url).href

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    (found) => found[1]!,
  )
}

test('what the guide to the library shows runs as it says', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-guide-'))
  try {
    writeFileSync(join(folder, 'desk.md'), blocks('markdown')[0]!)
    const code = blocks('ts').join('\n').replaceAll(`from 'lockstep'`, `from '${library}'`)
    writeFileSync(join(folder, 'desk.ts'), code)
    const printed = execFileSync(process.execPath, ['desk.ts'], { cwd: folder, encoding: 'utf8' })
    expect(printed).toBe(blocks('text').join(''))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
