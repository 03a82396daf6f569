import { describe, expect, it } from 'vitest'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { decide } from '../../src/run/decide.ts'
import { describeDenial } from '../../src/run/describe-denial.ts'
import { startRun } from '../../src/run/perform.ts'
import { readState } from '../../src/run/state-json.ts'
import type { ProposedCall } from '../../src/tool/enforcer-options.ts'
import { tool } from '../../src/tool/tool.ts'
import type { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, fakeClock, make, playbookOf, step } from './enforce.ts'

/** The sentence a call is refused with. */
function sentence(enforcer: PlaybookEnforcer, tool: string, call: Omit<ProposedCall, 'tool'> = {}): string {
  const result = enforcer.validateToolCall(tool, call)
  expect(result.allowed).toBe(false)
  return result.violation!.message
}

describe('the sentence of a refusal', () => {
  it('says what makes a name', () => {
    expect(sentence(enforce([step('a')]), 'a b')).toBe(
      "The tool's name is not usable: letters, digits, '_', '.', '/' and '-' make a name, 128 at most.",
    )
  })

  it('says that there is no such tool', () => {
    const tools = [tool({ name: 'a', description: 'A', execute: () => 1 })]
    const enforcer = enforce([step('a')], { allowExtraTools: true }, { tools })
    expect(sentence(enforcer, 'z')).toBe("There is no tool 'z'.")
  })

  it('names the call id that was used', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 })])
    enforcer.validateToolCall('a', { callId: 'c7' })
    expect(sentence(enforcer, 'a', { callId: 'c7' })).toBe(
      "The call id 'c7' was used before: every call needs its own.",
    )
  })

  it('says how the run ended', () => {
    const enforcer = enforce([step('a')])
    make(enforcer, 'a')
    enforcer.finish()
    expect(sentence(enforcer, 'a')).toBe('The run has ended (succeeded): nothing more is let through.')
  })

  it('names the required step that failed, not an optional one', () => {
    const enforcer = enforce([step('a', { required: false }), step('b')])
    enforcer.failCurrentStep('no')
    enforcer.failCurrentStep('no')
    expect(sentence(enforcer, 'b')).toBe(
      "Step 'b' has failed, so nothing is let through until it is retried.",
    )
  })

  it('names the step that waits for a person: escalated, or with a when that could not be judged', () => {
    const escalated = enforce([step('a'), step('b', { maxToolCalls: 1, onLimit: 'escalate' })])
    make(escalated, 'a')
    make(escalated, 'b', { outcome: 'failed' })
    expect(sentence(escalated, 'b')).toBe("The run waits for a person at step 'b'.")
    const optional = enforce([step('a', { required: false, maxToolCalls: 1, onLimit: 'escalate' })])
    make(optional, 'a', { outcome: 'failed' })
    expect(sentence(optional, 'a')).toBe("The run waits for a person at step 'a'.")
    const undecided = enforce([step('a'), step('b', { when: 'result("a").ok' })])
    make(undecided, 'a')
    expect(sentence(undecided, 'b')).toBe("The run waits for a person at step 'b'.")
  })

  it('says that the time is over', () => {
    const playbook = playbookOf([step('a', { timeoutSeconds: 1 })])
    const { state } = enforce([step('a', { timeoutSeconds: 1 })], {}, { clock: fakeClock(0) }).snapshot()
    const call = { type: 'call', callId: null, tool: 'a', args: null } as const
    expect(decide(readState(compilePlaybook(playbook), state), call, { now: 1000 })).toMatchObject([
      { type: 'tool.denied', message: 'The time for this step is over.' },
    ])
  })

  it('names the earlier call of which nobody knows whether it took effect', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 })])
    make(enforcer, 'a', { outcome: 'unknown' })
    expect(sentence(enforcer, 'a')).toBe(
      "Nobody knows whether an earlier 'a' (call-1) took effect, so it is not repeated before that is settled.",
    )
  })

  it('says that a call comes too late for a complete playbook', () => {
    const enforcer = enforce([step('a')])
    make(enforcer, 'a')
    expect(sentence(enforcer, 'z')).toBe("The playbook is complete: 'z' comes too late.")
  })

  it('says what the step that is due expects instead', () => {
    const enforcer = enforce([step('a', { expectedTools: ['x', 'y'] })])
    expect(sentence(enforcer, 'z')).toBe("Step 'a' does not expect 'z'. Expected: x, y.")
  })

  it('says that no step expects a tool where none is due', () => {
    const enforcer = enforce([step('a', { required: false })])
    admit(enforcer, 'a')
    enforcer.failCurrentStep('given up')
    expect(sentence(enforcer, 'z')).toBe("No step expects 'z'.")
  })

  it('names the last step that expected a tool which is over', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['x'] }),
      step('b', { expectedTools: ['x'] }),
      step('c', { expectedTools: ['x'] }),
      step('d'),
    ])
    make(enforcer, ['x', 'x', 'x'])
    expect(sentence(enforcer, 'x')).toBe("Step 'c' is closed: 'x' is over.")
  })

  it('names the step whose cap is spent, and says how many calls that were', () => {
    const one = enforce([step('a', { maxToolCalls: 1 }), step('b')])
    admit(one, 'a')
    expect(sentence(one, 'a')).toBe("Step 'a' has used its one call.")
    const two = enforce([
      step('a', { expectedTools: ['x'], maxToolCalls: 1 }),
      step('b', { expectedTools: ['x'], maxToolCalls: 2, completeWhen: 'declared' }),
      step('c', { expectedTools: ['x'], maxToolCalls: 5 }),
    ])
    make(two, ['x', 'x', 'x'])
    expect(sentence(two, 'x')).toBe("Step 'b' has used its 2 calls.")
  })

  it('names, for an extra tool, the step with "*" whose cap is spent', () => {
    const enforcer = enforce(
      [
        step('a', { maxToolCalls: 1, completeWhen: 'declared' }),
        step('b', { expectedTools: ['*'], maxToolCalls: 5 }),
        step('c', { expectedTools: ['*'], maxToolCalls: 1 }),
      ],
      { strictSequence: false },
    )
    make(enforcer, 'a')
    for (let call = 0; call < 5; call++) make(enforcer, 'z')
    expect(sentence(enforcer, 'z')).toBe("Step 'b' has used its 5 calls.")
  })

  it('says how many calls of extra tools were allowed', () => {
    const enforcer = enforce([step('a')], { allowExtraTools: true, maxExtraCalls: 1 })
    make(enforcer, 'z')
    expect(sentence(enforcer, 'z')).toBe('The 1 calls of tools outside the steps are used up.')
  })

  it('says what a call without arguments lacks', () => {
    const enforcer = enforce([step('a', { arguments: { a: { require: 'args.n > 1' } } })])
    expect(sentence(enforcer, 'a')).toBe(
      "'a' is bound by a rule on its arguments, and they were not given: the call carries no arguments.",
    )
  })

  it('gives the condition that does not hold, and why it could not be judged', () => {
    const enforcer = enforce([step('a', { arguments: { a: { require: 'args.n > 1' } } })])
    expect(sentence(enforcer, 'a', { arguments: { n: 1 } })).toBe(
      "The arguments of 'a' break a rule of its step: args.n > 1.",
    )
    expect(sentence(enforcer, 'a', { arguments: { n: 'one' } })).toMatch(
      /^The arguments of 'a' break a rule of its step: args\.n > 1 \(.+\)\.$/,
    )
  })

  it('gives every problem of a schema', () => {
    const schema = { type: 'object', required: ['n', 'm'] } as const
    const enforcer = enforce([step('a', { arguments: { a: { schema } } })])
    expect(sentence(enforcer, 'a', { arguments: {} })).toBe(
      "The arguments of 'a' break a rule of its step: lacks `n`; lacks `m`.",
    )
  })

  it('gives the rule of the playbook that is broken', () => {
    const enforcer = enforce([step('a')], { rules: [{ tool: 'a', require: 'args.n > 1' }] })
    expect(sentence(enforcer, 'a', { arguments: { n: 1 } })).toBe("'a' breaks a rule: args.n > 1.")
  })

  it('says that a condition does not hold, and not which, while a step is still hidden', () => {
    const enforcer = enforce([step('a'), step('b')], {
      disclosure: 'step',
      rules: [{ tool: '*', require: 'args.n > 1' }],
    })
    expect(sentence(enforcer, 'a', { arguments: { n: 1 } })).toBe(
      "'a' breaks a rule: its condition does not hold.",
    )
    make(enforcer, 'a', {}, { n: 2 })
    expect(sentence(enforcer, 'b', { arguments: { n: 1 } })).toBe("'b' breaks a rule: args.n > 1.")
  })

  it('says of a hidden step only what comes first', () => {
    const enforcer = enforce([step('a'), step('b')], { disclosure: 'step' })
    expect(sentence(enforcer, 'b')).toBe("'b' is not allowed now: step 'a' comes first.")
  })

  it('names the step whose turn has not come, not one with the same tool that is done', () => {
    const enforcer = enforce([
      step('a', { expectedTools: ['x'] }),
      step('b'),
      step('c', { expectedTools: ['x'] }),
    ])
    make(enforcer, 'x')
    expect(sentence(enforcer, 'x')).toBe("'x' belongs to step 'c', and step 'b' comes first.")
  })

  it('names the step with a call in flight that holds back the ones after it again', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 3 }), step('b')])
    make(enforcer, 'a')
    admit(enforcer, 'a')
    expect(sentence(enforcer, 'b')).toBe("'b' belongs to step 'b', and step 'a' comes first.")
    const graph = enforce([step('b', { after: 'a' }), step('a', { maxToolCalls: 3 })])
    make(graph, 'a')
    admit(graph, 'a')
    expect(sentence(graph, 'b')).toBe("'b' belongs to step 'b', and step 'a' comes first.")
  })

  it('says what went wrong where a call could not be judged', () => {
    const compiled = compilePlaybook(playbookOf([step('a')]))
    const { state } = startRun(
      compiled,
      { run: 'r', inputs: {}, enforced: true, finishAttempts: 0 },
      { now: 0 },
    )
    const broken = { ...state, byCallId: null as never }
    const call = { type: 'call', callId: 'c', tool: 'a', args: null } as const
    expect(decide(broken, call, { now: 0 })).toMatchObject([
      {
        code: 'gate_error',
        message: expect.stringMatching(/^The call could not be judged, so it is refused: .+\.$/),
      },
    ])
    expect(describeDenial(state, 'a', { code: 'unadmitted_call', detail: null })).toBe(
      "'a' was recorded, but the gate had not let it through.",
    )
  })

  it('keeps 127 characters and a mark of a name that is too long, and a name of 128 as it is', () => {
    const enforcer = enforce([step('a')])
    enforcer.validateToolCall(`${'x'.repeat(200)}`)
    enforcer.validateToolCall(`${'y'.repeat(127)}!`)
    enforcer.validateToolCall('z'.repeat(128))
    expect(enforcer.violations.map(({ toolName }) => toolName)).toEqual([
      `${'x'.repeat(127)}…`,
      `${'y'.repeat(127)}!`,
      'z'.repeat(128),
    ])
  })
})
