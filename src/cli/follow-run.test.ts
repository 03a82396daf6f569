import { expect, it } from 'vitest'
import type { JournalEntry } from '../app.ts'
import { followRun } from './follow-run.ts'

const entries = [
  { type: 'run.started', at: 1, data: { inputs: {} } },
  { type: 'run.finished', at: 2, data: { status: 'failed', message: 'no' } },
].map((fact, index) => ({ ...fact, seq: index + 1, run: 'r_1' }) as unknown as JournalEntry)

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
