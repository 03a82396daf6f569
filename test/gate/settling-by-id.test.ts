import { expect, it } from 'vitest'
import { admit, enforce, step } from './enforce.ts'

it('G6: an outcome with a call id settles that call, and not an older one of the same name', () => {
  const enforcer = enforce([step('a', { maxToolCalls: 3 })])
  admit(enforcer, 'a')
  const { callId } = admit(enforcer, 'a')
  enforcer.recordToolCall('a', { callId: callId!, outcome: 'failed' })
  expect(enforcer.snapshot().state.tickets.map(({ state }) => state)).toEqual(['admitted', 'failed'])
})

it('G6: an outcome with a call id that nobody was given settles nothing, though a call of that name is open', () => {
  const enforcer = enforce([step('a')])
  admit(enforcer, 'a')
  enforcer.recordToolCall('a', { callId: 'elsewhere' })
  const { state } = enforcer.snapshot()
  expect(state.tickets.map((ticket) => ticket.state)).toEqual(['admitted'])
  expect(state).toMatchObject({ unadmittedCalls: 1, totalToolCalls: 1 })
  expect(enforcer.violations).toMatchObject([
    {
      violationType: 'unadmitted_call',
      blocked: false,
      message: "'a' was recorded, but the gate had not let it through.",
    },
  ])
})
