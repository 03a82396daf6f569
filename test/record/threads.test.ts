/** Chains that are checked in threads: the verdict is the one of a single thread. The numbers are those of `verify-bytes.ts`. */
import { beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '../../src/proof/verify-export.ts'
import { verifyBytes, type Crew } from '../../src/report/verify-bytes.ts'
import { verifySignature } from './export-of.ts'
import { forge } from './forge.ts'
import { recordRuns } from './recorded-runs.ts'

/** This thread checks nothing itself as long as another one does it. */
const crew: Crew = {
  threads: 1,
  chunkBytes: 1,
  joinsIn: false,
  program: new URL('../../src/report/verify-thread.ts', import.meta.url),
}

let lines: readonly string[]
let redacted: readonly string[]

beforeAll(async () => {
  ;({ lines, redacted } = await recordRuns())
})

const inThreads = (given: readonly string[], changes: Partial<Crew> = {}) =>
  verifyBytes(Buffer.from(given.join('\n')), { verifySignature }, { ...crew, ...changes })
const alone = (given: readonly string[]) => verifyExport(given, { verifySignature })

describe('B1: the verdict is that of one thread', () => {
  test('where nothing is wrong, and where payloads are withheld', async () => {
    expect(await inThreads(lines)).toEqual(alone(lines))
    expect(await inThreads(['', ...redacted, ' ', ''], { threads: 2 })).toEqual(alone(redacted))
  })

  test('where a decision was forged and a line changed, with the chains mixed line by line', async () => {
    const forged = forge(lines, 'policy', (entries) =>
      entries.map((entry) =>
        entry.link.type === 'tool.admitted'
          ? { ...entry, data: { ...entry.data, args: { amount: 7 } } }
          : entry,
      ),
    )
    const changed = forged.map((line) =>
      line.replace('"principal":"ada","run":"list"', '"principal":"eve","run":"list"'),
    )
    const mixed = [changed[0]!, ...changed.slice(1).toSorted((a, b) => numberOf(a) - numberOf(b))]
    for (const given of [changed, mixed]) {
      const verdict = await inThreads(given)
      expect(verdict).toEqual(alone(given))
      expect(verdict.findings.map(({ chain }) => chain)).toEqual(expect.arrayContaining(['list', 'policy']))
    }
  })
})

const numberOf = (line: string) => Number(/"seq":(\d+)/.exec(line)![1])

describe('what a thread says of a chain', () => {
  /** Finds fault with every chain of which it says that it saw so many entries. */
  const says = (entries: string) =>
    program(`parentPort.once('message', ({ chunks }) => parentPort.postMessage(chunks.flatMap(({ chains }) => chains).map((chain) => ({
      chain, entries: ${entries}, check: { findings: [{ kind: 'edit', chain, seq: 1, message: 'said so' }], decisions: null } }))))`)
  const program = (code: string) =>
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';${code}`)}`,
    )

  test('B2: counts if it saw every line of it, and else does not', async () => {
    const lengths = JSON.stringify(
      Object.fromEntries(alone(lines).chains.map(({ chain, entries }) => [chain, entries])),
    )
    const heard = await inThreads(lines, { program: says(`(${lengths})[chain]`) })
    expect(heard.findings.filter(({ message }) => message === 'said so')).toHaveLength(heard.chains.length)
    expect(await inThreads(lines, { program: says(`(${lengths})[chain] - 1`) })).toEqual(alone(lines))
  })

  test('B3: is not missed where it fails, ends, or cannot be started', async () => {
    const failing = ["throw new Error('no')", 'process.exit(3)'].map(program)
    for (const each of [...failing, new URL('file:///there/is/no/such/program.ts')])
      expect(await inThreads(lines, { program: each })).toEqual(alone(lines))
  })
})
