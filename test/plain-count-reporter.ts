import type { Reporter, TestModule } from 'vitest/node'

type Count = { passed: number; failed: number; skipped: number }

/** Ends a test run with one plain line, `412 passed, 0 failed, 3 skipped`, after the reasons given for skipping. */
export default class PlainCountReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count: Count = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const testModule of testModules) countModule(testModule, count)
    for (const line of skipLines(testModules)) process.stdout.write(`${line}\n`)
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.stdout.write(`${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}

function countModule(testModule: TestModule, count: Count): void {
  const failedBefore = count.failed
  for (const { state } of Array.from(testModule.children.allTests(), (each) => each.result())) {
    count[state === 'pending' ? 'skipped' : state]++
  }
  // A file that cannot be loaded, or whose hook throws, has no failed test of its own.
  if (testModule.state() === 'failed' && count.failed === failedBefore) count.failed++
}

/** One line for each reason that tests give for skipping, and one for all that give none. */
function skipLines(testModules: readonly TestModule[]): string[] {
  const reasons = new Map<string, number>()
  const silent: string[] = []
  for (const test of testModules.flatMap((testModule) => [...testModule.children.allTests('skipped')])) {
    const result = test.result()
    const reason = result.state === 'skipped' ? result.note : undefined
    if (reason === undefined) silent.push(test.fullName)
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  const lines = Array.from(reasons, ([reason, tests]) => `${tests} skipped: ${reason}`)
  if (silent.length > 0) lines.push(`${silent.length} skipped without a reason, such as "${silent[0]}"`)
  return lines
}
