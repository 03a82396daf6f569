/** What a Markdown text is read as, as data: test/cases/markdown/parse. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ProgramTool } from '../../src/playbook/markdown/callables.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'
import { stepHash } from '../../src/playbook/markdown/step-hash.ts'
import { printProgram } from './print-program.ts'

interface Case {
  readonly note: string
  readonly text: string
  readonly tools?: readonly ProgramTool[]
  readonly files?: Readonly<Record<string, string>>
  readonly hostFunctions?: readonly string[]
  /** Calls that a lock file has, by playbook and bullet. */
  readonly lock?: readonly { readonly playbook: string; readonly text: string; readonly call: string }[]
  /** The program in few lines; absent where there is none. */
  readonly want?: string
  readonly kind?: 'ordinary document'
  /** Each as `severity line:column code: a part of the message or the suggestion`. */
  readonly problems?: readonly string[]
}

const folder = new URL('../cases/markdown/parse/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

function read(each: Case, text: string) {
  return parseProgram([{ file: 'case.md', text }], {
    tools: each.tools,
    hostFunctions: each.hostFunctions,
    resolutions: Object.fromEntries(
      (each.lock ?? []).map(({ call, ...step }) => [stepHash(step.text, step), call]),
    ),
    resolveImport: (path) => {
      const found = each.files?.[path]
      return found === undefined ? { problem: `there is no file \`${path}\`` } : { file: path, text: found }
    },
  })
}

test('there are cases', () => {
  expect(files.length).toBeGreaterThan(8)
})

describe.each(files)('%s', (name) => {
  const cases = (parse(readFileSync(new URL(name, folder), 'utf8')) as { cases: Case[] }).cases
  test.each(cases.map((each) => [each.note, each] as const))('%s', (_, each) => {
    const { program, diagnostics, kind } = read(each, each.text)
    const found = diagnostics.map((problem) => ({
      head: `${problem.severity} ${problem.line ?? '-'}:${problem.column ?? '-'} ${problem.code}`,
      said: `${problem.message} ${problem.suggestion ?? ''}`,
    }))
    const wanted = (each.problems ?? []).map((line) => {
      const cut = line.indexOf(': ')
      return cut === -1 ? { head: line, part: '' } : { head: line.slice(0, cut), part: line.slice(cut + 2) }
    })
    expect(found.map(({ head }) => head)).toEqual(wanted.map(({ head }) => head))
    wanted.forEach(({ part }, index) => expect(found[index]!.said).toContain(part))
    expect(program === null ? null : printProgram(program)).toBe(each.want ?? null)
    expect(kind).toBe(each.kind ?? 'program')
  })

  test.each(cases.map((each) => [each.note, each] as const))('the same with CRLF: %s', (_, each) => {
    const [unix, dos] = [read(each, each.text), read(each, each.text.replaceAll('\n', '\r\n'))]
    expect(dos).toEqual(unix)
  })
})
