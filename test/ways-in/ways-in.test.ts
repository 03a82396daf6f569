import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { keptRules } from './kept-rules.ts'
import { waysIn } from './way-in.ts'

describe.each(waysIn)('$name', (way) => {
  for (const { rule, says, trial, comes, except } of keptRules) {
    if (except?.[way.name] !== undefined) continue
    it(`${rule}: ${says}`, async () => {
      const { ran, succeeded } = await way.attempt(trial)
      expect({ ran, succeeded: trial.observe === true ? false : succeeded }).toEqual(comes)
    })
  }
})

it('G11: no way in shares a plan between two runs at once', async () => {
  const { trial, comes } = keptRules.find(({ rule }) => rule === 'G3')!
  for (const way of waysIn) {
    expect(await Promise.all([way.attempt(trial), way.attempt(trial)])).toEqual([comes, comes])
  }
})

it('the README shows which way in keeps which rule', () => {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [
    row(['rule', ...waysIn.map(({ name }) => name)]),
    row(['---', ...waysIn.map(() => '---')]),
    ...keptRules.map(({ rule, says, except }) =>
      row([
        `${rule} ${says}`,
        ...waysIn.map(({ name }) => (except?.[name] === undefined ? '✓' : `– (${except[name]})`)),
      ]),
    ),
    row(['G11 no two runs share a plan', ...waysIn.map(() => '✓')]),
  ].join('\n')
  expect(readFileSync('README.md', 'utf8')).toContain(table)
})
