import { readFileSync } from 'node:fs'
import { formatProgram } from '../playbook/markdown-format/format-program.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { writeWholeFile } from '../source/write-whole-file.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { declaredTools } from './known-tools.ts'
import { isMarkdown, markdownSuffixes } from '../source/load-program.ts'
import { readMarkdown, showDiagnostics } from './open-markdown.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep fmt FILE|DIRECTORY... [--check]

Puts Markdown playbooks (.md, .pb) into the usual form: headings, bullets, nesting by two spaces, blank lines, the case of
keywords. Comments, code, front matter and prose stay as they are, and no playbook changes its meaning. A file with errors
and an ordinary document are left alone.

Options:
  --check   change nothing; name the files that are not in the usual form

Exit codes: 0 all is in the usual form, 1 it is not (--check) or a file was refused, 2 wrong usage.

Examples:
  lockstep fmt refund.md
  lockstep fmt playbooks --check
`

type Outcome = 'same' | 'formatted' | 'refused' | 'skipped'

/** `lockstep fmt`: puts Markdown playbooks into the usual form. */
export const fmtCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { check: 'switch' })
    if (names.length === 0) throw new LockstepError('usage', 'fmt needs at least one file or directory')
    const { named, inDirectories, problems } = findPlaybookFiles(names, markdownSuffixes)
    const other = named.find((path) => !isMarkdown(path))
    if (other !== undefined)
      throw new LockstepError('usage', `fmt formats Markdown playbooks (.md, .pb), and ${other} is none`)
    showDiagnostics(problems, terminal)
    const check = flags.has('check')
    const outcomes = named.map((path) => format(path, check, true, terminal))
    for (const paths of inDirectories.values())
      for (const path of paths) outcomes.push(format(path, check, false, terminal))
    terminal.out(summarise(outcomes, check))
    const failed =
      problems.length > 0 || outcomes.includes('refused') || (check && outcomes.includes('formatted'))
    return failed ? exitCode.failed : exitCode.done
  },
}

function format(path: string, check: boolean, isNamed: boolean, terminal: Terminal): Outcome {
  const tools = declaredTools(path, terminal)
  const { program, kind, diagnostics, quote } = readMarkdown(path, tools)
  if (kind === 'ordinary document' && !isNamed) return 'skipped'
  if (program === null) {
    showDiagnostics(
      diagnostics.filter(({ severity }) => severity === 'error'),
      terminal,
      quote,
    )
    terminal.err(`${escapeControl(path)} was left as it is\n`)
    return 'refused'
  }
  const before = readFileSync(path, 'utf8')
  const { text } = formatProgram(
    before,
    (candidate) => readMarkdown(path, { ...tools, text: candidate }).program,
  )
  if (text === null) {
    terminal.err(`${escapeControl(path)} was left as it is: no other form of it means the same\n`)
    return 'refused'
  }
  if (text === before) return 'same'
  if (!check) write(path, text)
  terminal.out(`${escapeControl(path)}\n`)
  return 'formatted'
}

function write(path: string, text: string): void {
  try {
    writeWholeFile(path, text)
  } catch (cause) {
    throw new LockstepError('invalid_input', `${path} cannot be written: ${(cause as Error).message}`, {
      cause,
    })
  }
}

function summarise(outcomes: readonly Outcome[], check: boolean): string {
  const count = (outcome: Outcome) => outcomes.filter((each) => each === outcome).length
  const parts = [
    `${count('formatted')} ${check ? 'not in the usual form' : 'formatted'}`,
    `${count('same')} unchanged`,
    ...(count('refused') > 0 ? [`${count('refused')} left alone`] : []),
    ...(count('skipped') > 0 ? [`${count('skipped')} ordinary documents skipped`] : []),
  ]
  return `${parts.join(', ')}\n`
}
