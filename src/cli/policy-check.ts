import { openTools } from '../app.ts'
import type { Diagnostic } from '../document/diagnostic.ts'
import { type DiagnosticFormat, diagnosticFormats, renderDiagnostic } from '../document/render-diagnostic.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { looksLikePolicy } from '../policy/looks-like-policy.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadConfig } from '../source/load-config.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { count, readPolicyFile, showProblems, type ReadPolicy } from './policy-file.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/** `lockstep policy check`: judges policies and shows their problems. */
export async function checkPolicies(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { names, flags } = readFlags(args, {
    format: { values: diagnosticFormats },
    config: { value: 'FILE' },
  })
  if (names.length === 0)
    throw new LockstepError('usage', 'policy check needs at least one file or directory')
  const config = flags.get('config')
  const tools = config === undefined ? undefined : await toolsOf(config, terminal)
  const files = readAll(names, tools)
  const format = (flags.get('format') ?? 'pretty') as DiagnosticFormat
  const diagnostics = files.flatMap((file) => file.diagnostics)
  const errors = diagnostics.filter(isError).length
  const warnings = diagnostics.length - errors
  const policies = files.filter((file) => file.document !== null).length
  if (format === 'json') {
    terminal.out(`${escapeControl(JSON.stringify({ policies, errors, warnings, diagnostics }))}\n`)
  } else if (format === 'pretty') {
    for (const file of files) showProblems(file, terminal.out, terminal)
  } else {
    for (const each of diagnostics) terminal.out(`${renderDiagnostic(each, { format, colour: false })}\n`)
  }
  const found =
    errors + warnings === 0 ? 'no problems' : `${count(errors, 'error')}, ${count(warnings, 'warning')}`
  const summary = `${count(policies, 'policy', 'policies')} checked, ${found}\n`
  // Editors and programs read standard output, so what is for people goes beside it.
  if (format === 'pretty') terminal.out(summary)
  else terminal.err(summary)
  return errors > 0 ? exitCode.failed : exitCode.done
}

function readAll(names: readonly string[], tools: readonly string[] | undefined): ReadPolicy[] {
  const { named, inDirectories, problems } = findPlaybookFiles(names)
  const files = problems.map((problem) => asFile(problem))
  for (const path of named) files.push(readPolicyFile(path, tools))
  for (const [folder, paths] of inDirectories) {
    const read = paths.map((path) => readPolicyFile(path, tools))
    const found = read.filter(({ document }) => document === null || looksLikePolicy(document))
    const none = { code: 'file_not_found', message: 'there is no policy in this directory' } as const
    files.push(...(found.length === 0 ? [asFile(diagnosticWithoutPlace(none, folder))] : found))
  }
  return files
}

function asFile(problem: Diagnostic): ReadPolicy {
  return { path: problem.file ?? '', policy: null, diagnostics: [problem], document: null }
}

async function toolsOf(path: string, terminal: Terminal): Promise<readonly string[]> {
  const onNotice = (text: string) => terminal.err(`${escapeControl(text)}\n`)
  const bound = await openTools(await loadConfig(path), { onNotice })
  try {
    return bound.tools.map(({ tool }) => tool.name)
  } finally {
    await bound.close()
  }
}

function isError(diagnostic: Diagnostic): boolean {
  return diagnostic.severity === 'error'
}
