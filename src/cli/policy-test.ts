import { dirname, resolve } from 'node:path'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { checkPolicy } from '../policy/check-policy.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { describeExplanation } from '../policy/explain.ts'
import { parsePolicyCases, runPolicyCase, type ParsedCases } from '../policy/policy-case.ts'
import type { PolicyCasesFile, PolicyReference } from '../policy/policy-case-schema.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readSourceFile } from '../source/read-source-file.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { count, readPolicyFile, showProblems } from './policy-file.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/** How the cases came out; a file that cannot be used is a failure of its own. */
interface Tally {
  passed: number
  failed: number
  broken: number
}

/** `lockstep policy test`: decides cases and compares; what differs is shown with the explanation. */
export async function testPolicies(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { names } = readFlags(args, {})
  if (names.length === 0)
    throw new LockstepError('usage', 'policy test needs at least one file of cases or directory')
  const { named, inDirectories, problems } = findPlaybookFiles(names)
  const tally: Tally = { passed: 0, failed: 0, broken: problems.length }
  showProblems({ diagnostics: problems, document: null }, terminal.out, terminal)
  for (const path of named) testFile(path, true, tally, terminal)
  for (const path of [...inDirectories.values()].flat()) testFile(path, false, tally, terminal)
  const cases = tally.passed + tally.failed
  if (cases + tally.broken === 0) {
    terminal.out('There is no case here: a file of cases has the key `cases`.\n')
    return exitCode.failed
  }
  const broken = tally.broken === 0 ? '' : `, ${count(tally.broken, 'file')} not usable`
  terminal.out(`${count(cases, 'case')}: ${tally.passed} as expected, ${tally.failed} not${broken}\n`)
  return tally.failed + tally.broken === 0 ? exitCode.done : exitCode.failed
}

function testFile(path: string, asked: boolean, tally: Tally, terminal: Terminal): void {
  const source = readSourceFile(path)
  if (source.text === null) {
    tally.broken++
    showProblems({ diagnostics: [source.problem], document: null }, terminal.out, terminal)
    return
  }
  const parsed = parsePolicyCases(source.text, { format: source.format, file: path })
  if (!asked && !holdsCases(parsed)) return
  if (parsed.cases === null) {
    tally.broken++
    showProblems(parsed, terminal.out, terminal)
    return
  }
  runCases(path, parsed.cases, tally, terminal)
}

function holdsCases({ document }: ParsedCases): boolean {
  const value = document.value()
  return value === undefined
    ? /^["']?cases["']?\s*:/m.test(document.text)
    : isJsonObject(value) && 'cases' in value
}

function runCases(path: string, file: PolicyCasesFile, tally: Tally, terminal: Terminal): void {
  // A file that many cases name is read, and its problems shown, once.
  const read = new Map<PolicyReference, CompiledPolicy | null>()
  const open = (reference: PolicyReference): CompiledPolicy | null => {
    let policy = read.get(reference)
    if (policy === undefined) {
      policy = openPolicy(reference, path, terminal)
      read.set(reference, policy)
    }
    return policy
  }
  for (const each of file.cases) {
    const given = each.policy ?? file.policy ?? []
    const policies = (Array.isArray(given) ? given : [given]).map((reference: PolicyReference) =>
      open(reference),
    )
    if (policies.includes(null)) {
      tally.failed++
      terminal.out(`FAILED ${escapeControl(`${path}: ${each.name}`)}\n  its policy has errors\n\n`)
      continue
    }
    const { differences, explanation } = runPolicyCase(file, each, policies as CompiledPolicy[])
    if (differences.length === 0) {
      tally.passed++
      continue
    }
    tally.failed++
    const lines = [...differences, ...describeExplanation(explanation)]
    terminal.out(`FAILED ${escapeControl(`${path}: ${each.name}`)}\n`)
    for (const line of lines) terminal.out(`  ${escapeControl(line)}\n`)
    terminal.out('\n')
  }
}

function openPolicy(
  reference: PolicyReference,
  casesPath: string,
  terminal: Terminal,
): CompiledPolicy | null {
  if (typeof reference === 'string') {
    const file = readPolicyFile(resolve(dirname(casesPath), reference))
    const errors = file.diagnostics.filter(({ severity }) => severity === 'error')
    showProblems({ ...file, diagnostics: errors }, terminal.out, terminal)
    return file.policy
  }
  const { policy, problems } = checkPolicy(reference)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const diagnostics = errors.map((problem) => diagnosticWithoutPlace(problem, casesPath))
  showProblems({ diagnostics, document: null }, terminal.out, terminal)
  return policy === null ? null : compilePolicy(policy)
}
