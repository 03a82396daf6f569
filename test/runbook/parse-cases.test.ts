/** What the text of a runbook is read as, as data: test/cases/runbook/parse. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ToolFacts } from '../../src/playbook/check-context.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { JsonObject } from '../../src/shared/json.ts'

interface Case {
  readonly note: string
  readonly text: string
  /** What is known of tools; with `closed`, there are no others. */
  readonly tools?: Readonly<Record<string, ToolFacts>>
  readonly closed?: boolean
  /** The playbook as its JSON; absent where there is none. `playbook: ok` where only the problems matter. */
  readonly playbook?: JsonObject | 'ok'
  /** Each as `severity line:column code: a part of the message or the suggestion`. */
  readonly problems?: readonly string[]
}

const folder = new URL('../cases/runbook/parse/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

const casesIn = (name: string) =>
  (parse(readFileSync(new URL(name, folder), 'utf8')) as { cases: Case[] }).cases

test('there are cases', () => {
  expect(files.flatMap(casesIn).length).toBeGreaterThan(60)
})

describe.each(files)('%s', (name) => {
  test.each(casesIn(name).map((each) => [each.note, each] as const))('%s', (_, each) => {
    const facts = new Map(Object.entries(each.tools ?? {}))
    const { playbook, diagnostics } = parsePlaybook(each.text, {
      format: 'yaml',
      facts,
      ...(each.closed === true ? { tools: [...facts.keys()] } : {}),
    })
    const found = diagnostics.map(({ severity, line, column, code, message, suggestion }) => ({
      head: `${severity} ${line}:${column} ${code}`,
      said: `${message} ${suggestion ?? ''}`,
    }))
    const wanted = (each.problems ?? []).map((line) => {
      const cut = line.indexOf(': ')
      return { head: line.slice(0, cut), part: line.slice(cut + 2) }
    })
    expect(found.map(({ head }, at) => `${head}: ${found[at]!.said}`)).toEqual(
      wanted.map(({ head, part }) =>
        expect.stringMatching(new RegExp(`^${quote(head)}: .*${quote(part)}`, 's')),
      ),
    )
    if (each.playbook === 'ok') expect(playbook).not.toBeNull()
    else expect(playbook === null ? undefined : playbook.toJSON()).toEqual(each.playbook)
    // What was accepted can be made ready to run, and says the same when it is read back.
    if (playbook === null) return
    expect(compilePlaybook(playbook).steps).toHaveLength(playbook.steps.length)
    const again = parsePlaybook(JSON.stringify(playbook), { format: 'json' })
    expect(again.playbook).toEqual(playbook)
  })
})

function quote(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
