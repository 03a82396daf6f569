import { describe, expect, it } from 'vitest'
import { compensationOf } from './compensation-of.ts'
import { findOut, type LostCall } from './find-out.ts'
import { ToolFailure } from './tool-failure.ts'
import { tool, type ToolDefinition } from './tool.ts'

const call: LostCall = { key: 'r_1/cordon', args: { node: 'node-7' } }

function make(definition: Partial<ToolDefinition>) {
  return tool({ name: 't', description: 'd', risk: 'write', execute: () => 'done', ...definition })
}

describe('findOut', () => {
  it('O1: counts a call that only reads as failed', async () => {
    const reads = make({ risk: 'read', idempotent: true })
    expect(await findOut(reads, call)).toEqual({ outcome: 'failed', found: { how: 'only_reads' } })
    // Whoever calls may know better what the call can do.
    expect(await findOut(make({ risk: 'read' }), { ...call, risk: 'write' })).toEqual({
      outcome: 'unknown',
      found: null,
    })
  })

  it('leaves to a person what nobody can find out', async () => {
    expect(await findOut(make({}), call)).toEqual({ outcome: 'unknown', found: null })
    expect(await findOut(null, call)).toEqual({ outcome: 'unknown', found: null })
  })

  it('O2: asks the tool by the key and the arguments, and keeps what it says for people', async () => {
    const asked: unknown[] = []
    const knows = make({
      reconcile: (key, args) => {
        asked.push([key, args])
        return { outcome: 'succeeded', result: { cordoned: true }, note: 'already cordoned' }
      },
    })
    expect(await findOut(knows, call)).toEqual({
      outcome: 'succeeded',
      result: { cordoned: true },
      found: { how: 'reconciled', note: 'already cordoned' },
    })
    expect(asked).toEqual([['r_1/cordon', { node: 'node-7' }]])
  })

  it.each<[string, unknown, string]>([
    ['failed', { outcome: 'failed' }, 'failed'],
    ['nothing', undefined, 'unknown'],
    ['a word of its own', { outcome: 'applied' }, 'unknown'],
    ['true', true, 'unknown'],
    ['an object that throws', new Proxy({}, { get: () => expect.fail('x') }), 'unknown'],
  ])('O2: takes %s for what it says, and no more', async (_, answer, outcome) => {
    expect(await findOut(make({ reconcile: () => answer }), call)).toMatchObject({ outcome })
  })

  it('O2: a tool that throws does not know', async () => {
    const broken = make({ reconcile: () => Promise.reject(new ToolFailure('no connection')) })
    const found = { how: 'reconciled', note: 'no connection' }
    expect(await findOut(broken, call)).toEqual({ outcome: 'unknown', found })
  })

  it('O3: sends an idempotent call again, under its key and with its arguments', async () => {
    const sent: unknown[] = []
    const again = make({
      idempotent: true,
      execute(args, { idempotencyKey }) {
        sent.push([args, idempotencyKey])
        return 'done'
      },
    })
    expect(await findOut(again, call)).toEqual({
      outcome: 'succeeded',
      result: 'done',
      found: { how: 'repeated' },
    })
    expect(sent).toEqual([[{ node: 'node-7' }, 'r_1/cordon']])
  })

  it('O3: repeats twice at most, and takes a failure of a repetition for no proof', async () => {
    let sent = 0
    const fails = make({
      idempotent: true,
      execute() {
        sent++
        throw new ToolFailure('there is no such node')
      },
    })
    expect(await findOut(fails, call)).toEqual({ outcome: 'unknown', found: null })
    expect(sent).toBe(2)
  })

  it('O3: repeats nothing that may not be made any more, nor after somebody stopped', async () => {
    let sent = 0
    const again = make({ idempotent: true, execute: () => sent++ })
    expect((await findOut(again, { ...call, mayRepeat: () => false })).outcome).toBe('unknown')
    expect((await findOut(again, { ...call, signal: AbortSignal.abort() })).outcome).toBe('unknown')
    const broken = () => {
      throw new Error('the policies cannot be asked')
    }
    expect((await findOut(again, { ...call, mayRepeat: broken })).outcome).toBe('unknown')
    expect(sent).toBe(0)
  })

  it('O3: asks before it repeats, and repeats only where the answer is open', async () => {
    let sent = 0
    const execute = () => ++sent
    const both = (outcome: string) => make({ idempotent: true, execute, reconcile: () => ({ outcome }) })
    expect((await findOut(both('failed'), call)).outcome).toBe('failed')
    expect(sent).toBe(0)
    expect(await findOut(both('unknown'), call)).toMatchObject({ outcome: 'succeeded', result: 1 })
  })

  it('O4: does not wait for a tool that does not answer', async () => {
    let told: AbortSignal | undefined
    const hangs = make({
      timeoutSeconds: 0.05,
      reconcile: (_, __, { signal }) => {
        told = signal
        return new Promise(() => undefined)
      },
    })
    expect((await findOut(hangs, call)).outcome).toBe('unknown')
    expect(told?.aborted).toBe(true)
    const controller = new AbortController()
    const slow = make({ reconcile: () => new Promise(() => undefined) })
    const asked = findOut(slow, { ...call, signal: controller.signal })
    controller.abort()
    expect((await asked).outcome).toBe('unknown')
  })

  it('O4: still asks where somebody stopped in the middle of the call', async () => {
    const knows = make({ reconcile: () => ({ outcome: 'succeeded' }) })
    expect((await findOut(knows, { ...call, signal: AbortSignal.abort() })).outcome).toBe('succeeded')
  })
})

describe('compensationOf', () => {
  const undo = (compensate: ToolDefinition['compensate']) =>
    compensationOf(make(compensate === undefined ? {} : { compensate }), { node: 'n' }, { was: 1 })

  it('is the call that the tool names, from the arguments and the result', () => {
    expect(undo((args, result) => ({ tool: 'uncordon', args: { ...args, result } }))).toEqual({
      tool: 'uncordon',
      args: { node: 'n', result: { was: 1 } },
    })
  })

  it('is none where the tool says that there is nothing to undo', () => {
    expect(undo(undefined)).toBeNull()
    expect(undo(() => null)).toBeNull()
  })

  it('is told where it cannot be worked out, so that nobody takes it for nothing to undo', () => {
    const broken = () => {
      throw new Error('no such field')
    }
    expect(undo(broken)).toEqual({ error: "'t' cannot say what undoes it: no such field" })
    for (const said of [{ tool: 7 }, 'uncordon', { tool: 'a', args: [1] }, { tool: 'a', args: { at: 1n } }]) {
      expect(undo((() => said) as never)).toEqual({ error: expect.stringContaining("'t'") as string })
    }
  })
})
