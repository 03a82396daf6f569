import { expect, it } from 'vitest'
import type { JournalEntry } from '../app.ts'
import { followRun } from './follow-run.ts'

const entries = [
  { type: 'run.started', at: 1, data: { inputs: {} } },
  { type: 'run.finished', at: 2, data: { status: 'failed', message: 'no' } },
].map((fact, index) => ({ ...fact, seq: index + 1, run: 'r_1' }) as unknown as JournalEntry)

it('stops where nobody knows what became of a call, and says who has to do what', async () => {
  const lost = [
    { type: 'run.started', at: 1, data: { inputs: {} } },
    { type: 'tool.admitted', at: 2, data: { callId: 'pay', tool: 'pay' } },
    { type: 'tool.settled', at: 3, data: { callId: 'pay', outcome: 'unknown' } },
  ].map((fact, index) => ({ ...fact, seq: index + 1, run: 'r_1' }) as unknown as JournalEntry)
  const follow = async (untilHeld: boolean, settled: readonly string[]) => {
    let text = ''
    const terminal = { out: (more: string) => void (text += more), err: () => undefined, colour: false }
    let stopped = false
    const source = {
      async *tail(_run: string, _from: number, signal: AbortSignal) {
        yield* lost
        stopped = signal.aborted
      },
    }
    const { signal } = new AbortController()
    const shown = { run: 'r_1', playbook: null, from: 1, json: false, signal, untilHeld, settled, terminal }
    return { code: await followRun(source, shown), text, stopped: () => stopped }
  }
  const next = 'Next: npx lockstep resume r_1 --settle pay=succeeded (or pay=failed if nothing was applied)'
  const script = await follow(true, [])
  expect([script.code, script.stopped()]).toEqual([1, true])
  expect(script.text).toBe(
    `waits: nobody knows what became of pay: a person has to settle it. · run r_1\n${next}\n`,
  )
  // Who stays is told when it comes.
  const staying = await follow(false, [])
  expect([staying.text.split(next).length, staying.stopped()]).toEqual([3, false])
  // What was just settled is no reason to stop.
  const settling = await follow(true, ['pay'])
  expect([settling.code, settling.stopped()]).toEqual([0, false])
})

async function told(asRun: boolean): Promise<Record<string, unknown>[]> {
  let text = ''
  const terminal = { out: (more: string) => void (text += more), err: () => undefined, colour: false }
  const source = {
    async *tail() {
      yield* entries
    },
  }
  const { signal } = new AbortController()
  const shown = { run: 'r_1', playbook: null, from: 1, json: true, signal, untilHeld: true, asRun }
  expect(await followRun(source, { ...shown, terminal })).toBe(1)
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

it('tells a run that another process works on as the run command does: its mode first, its result last', async () => {
  expect(await told(true)).toEqual([
    { type: 'run.mode', mode: 'execute', run: 'r_1' },
    { type: 'run.started', at: 1, inputs: {} },
    { type: 'run.finished', at: 2, status: 'failed', message: 'no' },
    {
      type: 'run.result',
      status: 'failed',
      ended: true,
      reason: 'no',
      run: 'r_1',
      next: 'npx lockstep show r_1',
    },
  ])
  expect((await told(false)).map(({ seq }) => seq)).toEqual([1, 2])
})
