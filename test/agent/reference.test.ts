import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkOptions } from '../../src/agent/check-options.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'

const page = readFileSync(new URL('../../docs/reference/agent.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```ts\n([^]*?)```\n\n```text\n([^]*?)```/g)].map(([, code, output]) => [
  code!,
  output!,
])
const run = promisify(execFile)

test('every example of the page has its output beside it', () => {
  expect(examples).toHaveLength(page.match(/```ts\n/g)!.length)
})

test.each(examples.map(([code, output], index) => [index + 1, code!, output!] as const))(
  'example %i prints what the page says',
  async (_, code, output) => {
    const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)
    const file = join(mkdtempSync(join(tmpdir(), 'lockstep-page-')), 'example.ts')
    writeFileSync(
      file,
      code
        .replaceAll("'lockstep/testing'", source('testing/index.ts'))
        .replaceAll("'lockstep'", source('index.ts')),
    )
    const { stdout } = await run(process.execPath, [file])
    expect(stdout).toBe(output)
  },
)

test('the script of the page is one', () => {
  const [, yaml] = /```yaml\n([^]*?)```/.exec(page)!
  expect(() => scriptedModel(parse(yaml!) as never)).not.toThrow()
})

test('the page names every option, and no other', () => {
  const table = page.slice(page.indexOf('## Options'), page.indexOf('An option with another name'))
  const named = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names]) =>
    names!.match(/\w+/g)!,
  )
  const { hint } = captured(() => checkOptions({ zzzzzzzzzzzz: 1 } as never))
  expect(named.toSorted()).toEqual(hint!.match(/\w+/g)!.slice(2).toSorted())
})

function captured(work: () => void): { hint: string | null } {
  try {
    work()
  } catch (error) {
    return error as { hint: string | null }
  }
  throw new Error('nothing was thrown')
}
