import type { Diagnostic } from '../document/diagnostic.ts'
import { type DiagnosticFormat, diagnosticFormats, renderDiagnostic } from '../document/render-diagnostic.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { phraseSecret } from '../playbook/playbook-secrets.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { playbookSuffixes } from '../source/read-source-file.ts'
import { type CheckedFile, checkPlaybookFile, knownDispatchers } from './check-playbook-file.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { isMarkdown, markdownSuffixes } from '../source/load-program.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep check FILE|DIRECTORY... [--format ${diagnosticFormats.join('|')}]

Checks playbooks without running them and shows every problem with its place and what to do about it. Says which secrets a runbook
needs, and for which tools.
Directories are searched for .yaml, .yml, .json, .md and .pb files; those that are no playbooks are skipped and counted.

Options:
  --format pretty   for people: the line quoted, the place marked (the default)
  --format unix     one line per problem, for editors: FILE:LINE:COLUMN: SEVERITY CODE MESSAGE
  --format json     one JSON document, for programs
  --format github   annotations for GitHub Actions

Exit codes: 0 no errors (there may be warnings), 1 errors or nothing to check, 2 wrong usage.

Examples:
  lockstep check refund.yaml
  lockstep check refund.md
  lockstep check playbooks --format github
`

const mostShown = 50

/** `lockstep check`: judges playbooks and shows their problems. */
export const checkCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { format: { values: diagnosticFormats } })
    if (names.length === 0) throw new LockstepError('usage', 'check needs at least one file or directory')
    const format = (flags.get('format') ?? 'pretty') as DiagnosticFormat
    const once = tellingOnce(terminal)
    const checked = checkAll(names, knownDispatchers(once), once)
    if (format === 'json') writeJson(checked, terminal)
    else writeLines(checked, format, terminal)
    return checked.files.some((file) => file.diagnostics.some(isError)) ? exitCode.failed : exitCode.done
  },
}

/** What was found; `documents` are the skipped files that are Markdown without a playbook. */
type Checked = {
  readonly files: readonly CheckedFile[]
  readonly skipped: readonly string[]
  readonly documents: readonly string[]
}

/** The same terminal, which is told nothing twice: one configuration is looked at for many files. */
function tellingOnce(terminal: Terminal): Terminal {
  const told = new Set<string>()
  const err = (text: string) => {
    if (!told.has(text)) terminal.err(text)
    told.add(text)
  }
  return { ...terminal, err }
}

function checkAll(names: readonly string[], dispatchers: readonly string[], terminal: Terminal): Checked {
  const suffixes = [...playbookSuffixes, ...markdownSuffixes]
  const { named, inDirectories, problems } = findPlaybookFiles(names, suffixes)
  const check = (path: string) => checkPlaybookFile(path, dispatchers, terminal)
  const files = problems.map((problem): CheckedFile => ({
    isPlaybook: false,
    diagnostics: [problem],
    quote: null,
  }))
  const skipped: string[] = []
  const documents: string[] = []
  for (const path of named) files.push(check(path).file)
  for (const [folder, paths] of inDirectories) {
    let playbooks = 0
    for (const path of paths) {
      const { file, looksLikeOne } = check(path)
      if (looksLikeOne) {
        files.push(file)
        playbooks += 1
      } else (isMarkdown(path) ? documents : skipped).push(path)
    }
    if (playbooks === 0) {
      const problem = diagnosticWithoutPlace(
        { code: 'file_not_found', message: 'there is no playbook in this directory' },
        folder,
      )
      files.push({ isPlaybook: false, diagnostics: [problem], quote: null })
    }
  }
  return { files, skipped, documents }
}

function writeLines(
  { files, skipped, documents }: Checked,
  format: Exclude<DiagnosticFormat, 'json'>,
  terminal: Terminal,
): void {
  for (const { diagnostics, quote } of files) {
    const shown = format === 'pretty' ? diagnostics.slice(0, mostShown) : diagnostics
    for (const diagnostic of shown) {
      const lineText = quote === null ? {} : { lineText: () => quote(diagnostic) }
      const options = { format, colour: terminal.colour, ...lineText }
      terminal.out(`${renderDiagnostic(diagnostic, options)}\n${format === 'pretty' ? '\n' : ''}`)
    }
    if (shown.length < diagnostics.length)
      terminal.out(`... and ${diagnostics.length - shown.length} more in this file\n\n`)
  }
  const needs = secretsIn(files).map((each) => `${each.file} needs the secret ${phraseSecret(each)}`)
  const summary =
    needs.map((line) => `${escapeControl(line)}\n`).join('') +
    summarise(files, skipped.length, documents.length)
  // Editors and GitHub read standard output line by line, so what is for people goes beside it.
  if (format === 'pretty') terminal.out(summary)
  else terminal.err(summary)
}

function writeJson({ files, skipped, documents }: Checked, terminal: Terminal): void {
  const diagnostics = files.flatMap((file) => file.diagnostics)
  const errors = diagnostics.filter(isError).length
  const secrets = secretsIn(files)
  const report = {
    playbooks: files.filter((file) => file.isPlaybook).length,
    errors,
    warnings: diagnostics.length - errors,
    skipped: [...skipped, ...documents],
    ...(secrets.length === 0 ? {} : { secrets }),
    diagnostics,
  }
  terminal.out(`${JSON.stringify(report, null, 2)}\n`)
}

function secretsIn(files: readonly CheckedFile[]): readonly NonNullable<CheckedFile['secrets']>[number][] {
  return files.flatMap(({ secrets = [] }) => secrets)
}

function summarise(files: readonly CheckedFile[], skipped: number, documents: number): string {
  const diagnostics = files.flatMap((file) => file.diagnostics)
  const errors = diagnostics.filter(isError).length
  const warnings = diagnostics.length - errors
  const found =
    errors + warnings === 0 ? 'no problems' : [count(errors, 'error'), count(warnings, 'warning')].join(', ')
  const others = skipped === 0 ? '' : ` (${count(skipped, 'other file')} skipped: no \`id\` and no \`steps\`)`
  const ordinary = documents === 0 ? '' : `; ${count(documents, 'ordinary document')} skipped`
  const playbooks = files.filter((file) => file.isPlaybook)
  const wrong = playbooks.filter((file) => file.diagnostics.some(isError)).length
  // Of one playbook it is plain; of many, how many need work is what one wants to know.
  const share = playbooks.length > 1 && wrong > 0 ? ` (${wrong} with errors)` : ''
  return `${count(playbooks.length, 'playbook')} checked${share}, ${found}${others}${ordinary}\n`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === 'error'
}
