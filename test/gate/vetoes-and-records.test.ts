import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/run/event.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, make, refusal, statuses, step } from './enforce.ts'

describe('a veto', () => {
  it('G14: refuses a call that the playbook would allow, and takes no slot', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 1 })])
    const result = enforcer.validateToolCall('a', { veto: 'not during the freeze' })
    expect(result).toMatchObject({ allowed: false, code: 'vetoed', callId: null })
    expect(result.violation?.message).toContain('not during the freeze')
    expect(statuses(enforcer)).toBe('a pending')
    expect(refusal(enforcer, 'a')).toBeNull()
  })

  it('G14: binds where the playbook only observes', () => {
    const enforcer = enforce([step('a')], {}, { blockViolations: false })
    expect(enforcer.validateToolCall('a', { veto: '' })).toMatchObject({ allowed: false, code: 'vetoed' })
  })

  it('G14: keeps call() from running anything', async () => {
    let ran = false
    const enforcer = enforce([step('a')])
    const outcome = await enforcer.call('a', {}, () => (ran = true), { veto: 'no' })
    expect(outcome).toMatchObject({ status: 'denied', enforcement: { code: 'vetoed' } })
    expect(ran).toBe(false)
  })
})

describe('a record that takes its time', () => {
  const slow = () => {
    const batches: (readonly RunEvent[])[] = []
    const waiting: { resolve: () => void; reject: (error: Error) => void }[] = []
    const onEvents = (events: readonly RunEvent[]) => {
      batches.push(events)
      return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }))
    }
    return { batches, waiting, onEvents }
  }
  const soon = () => new Promise<void>((resolve) => setImmediate(resolve))

  it('G16: call() runs the tool only after its admission is written', async () => {
    const { waiting, onEvents } = slow()
    const enforcer = enforce([step('a')], {}, { onEvents })
    let ran = false
    const outcome = enforcer.call('a', {}, () => (ran = true))
    await soon()
    expect(waiting).toHaveLength(2)
    waiting[0]!.resolve()
    await soon()
    expect(ran).toBe(false)
    waiting[1]!.resolve()
    await soon()
    expect(ran).toBe(true)
    expect((await outcome).status).toBe('succeeded')
  })

  it('G16: call() does not run the tool if its admission cannot be written', async () => {
    const { waiting, onEvents } = slow()
    const enforcer = enforce([step('a')], {}, { onEvents })
    let ran = false
    const outcome = enforcer.call('a', {}, () => (ran = true)).catch((error: unknown) => error)
    await soon()
    waiting[0]!.resolve()
    waiting[1]!.reject(new Error('disk full'))
    expect(await outcome).toMatchObject({ code: 'record_failed' })
    expect(ran).toBe(false)
    expect(enforcer.validateToolCall('a').code).toBe('gate_error')
  })

  it('G16: who runs tools without call() waits for written()', async () => {
    const { waiting, onEvents } = slow()
    const enforcer = enforce([step('a')], {}, { onEvents })
    admit(enforcer, 'a')
    let written = false
    const waits = enforcer.written().then(() => (written = true))
    await soon()
    expect(written).toBe(false)
    for (const each of waiting) each.resolve()
    await waits
    expect(written).toBe(true)
  })
})

describe('ending a run on purpose', () => {
  it.each(['incomplete', 'failed', 'cancelled'] as const)(
    'G9: a run that is ended %s lets nothing through',
    (status) => {
      const enforcer = enforce([step('a')], { allowExtraTools: true })
      enforcer.end(status, 'enough')
      expect(enforcer.status).toBe(status)
      expect(refusal(enforcer, 'a')).toBe('run_ended')
      expect(refusal(enforcer, 'x')).toBe('run_ended')
      expect(enforcer.finish()).toMatchObject({ accepted: false, status })
    },
  )

  it('G9: a run that has ended stays as it ended', () => {
    const enforcer = enforce([step('a')])
    make(enforcer, 'a')
    enforcer.finish()
    enforcer.end('failed')
    expect(enforcer.status).toBe('succeeded')
  })

  it('G9: a call in flight can still be settled', () => {
    const enforcer = enforce([step('a')])
    admit(enforcer, 'a')
    enforcer.end('cancelled')
    enforcer.recordToolCall('a')
    expect(enforcer.plan.getStepExecution('a')?.calls[0]?.outcome).toBe('succeeded')
  })
})

describe('a run taken up from its events', () => {
  it('G11: goes on as the one that wrote them', () => {
    const events: RunEvent[] = []
    const first = enforce([step('a'), step('b')], {}, { onEvents: (batch) => events.push(...batch) })
    make(first, 'a')
    const second = PlaybookEnforcer.fromEvents(
      first.playbook,
      JSON.parse(JSON.stringify(events)) as RunEvent[],
    )
    expect(second.snapshot().state).toEqual(first.snapshot().state)
    expect(refusal(second, 'a')).toBe('step_closed')
    make(second, 'b')
    expect(second.isComplete).toBe(true)
  })

  it('G11: of another version of the playbook is refused', () => {
    const events: RunEvent[] = []
    enforce([step('a')], {}, { onEvents: (batch) => events.push(...batch) })
    const other = enforce([step('a'), step('b')]).playbook
    expect(() => PlaybookEnforcer.fromEvents(other, events)).toThrow(
      expect.objectContaining({ code: 'playbook_mismatch' }),
    )
  })
})
