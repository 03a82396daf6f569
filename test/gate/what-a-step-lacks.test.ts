import { describe, expect, it } from 'vitest'
import { admit, enforce, make, step } from './enforce.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import type { Json } from '../../src/shared/json.ts'
import { missingEvidence, missingValidation } from '../../src/run/satisfaction.ts'
import { activationOf } from '../../src/run/state.ts'
import { readState } from '../../src/run/state-json.ts'

/** What a step of these fields lacks after these calls of it have succeeded. */
function lacking(
  fields: Partial<PlaybookStepDefinition>,
  calls: readonly string[] = [],
  result: Json = null,
): string[] {
  const enforcer = enforce([step('a', fields)])
  for (const tool of calls) make(enforcer, tool, { result })
  const compiled = compilePlaybook(enforcer.playbook)
  const state = readState(compiled, enforcer.snapshot().state)
  const activation = activationOf(state, 0)
  return [
    ...missingEvidence(state, compiled.steps[0]!, activation),
    ...missingValidation(state, compiled.steps[0]!, activation),
  ]
}

describe('what a step lacks', () => {
  const three = { expectedTools: ['x', 'y', 'z', '*'] }

  it('G6: names the tools that have not succeeded, and how many of them are needed', () => {
    expect(lacking(three, ['x'])).toEqual(['still to succeed: y, z'])
    expect(lacking({ expectedTools: ['x', 'y', 'z'], completeWhen: 2 }, ['y'])).toEqual([
      'still to succeed: 1 of x, z',
    ])
  })

  it('G6: is nothing once the tools have succeeded, or where only a declaration is asked for', () => {
    expect(lacking(three, ['x', 'y', 'z'])).toEqual([])
    expect(lacking({ expectedTools: [] })).toEqual([])
  })

  it('G6: gives the condition that does not hold', () => {
    expect(lacking({ completeWhen: 'calls > 1' }, ['a'])).toEqual(['complete_when does not hold: calls > 1'])
  })

  it('G6: names every keyword that no result has shown', () => {
    const validation = { requiredResultKeywords: ['Red', 'green', 'blue'] }
    expect(lacking({ validation }, ['a'], 'all is GREEN')).toEqual(['no result contains "red", "blue"'])
  })

  it('G6: holds the latest result against the schema, once there is one', () => {
    const validation = { resultSchema: { type: 'object', required: ['ok', 'at'] } }
    expect(lacking({ ...three, validation })).toEqual([
      'still to succeed: x, y, z',
      'no result yet to hold against result_schema',
    ])
    expect(lacking({ validation }, ['a'], {})).toEqual([
      'the latest result: lacks `ok`',
      'the latest result: lacks `at`',
    ])
  })
})

describe('steps, as conditions see them', () => {
  it('have a status, a result and a number of successes, before they are begun and after', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 }), step('b'), step('c', { expectedTools: [] })], {
      rules: [
        {
          tool: 'a',
          require: 'steps.b.status == "pending" and steps.b.result == null and steps.b.calls == 0',
        },
        { tool: 'b', require: 'steps.a.status == "completed" and steps.a.calls == 2' },
        { tool: 'd', require: 'steps.c.result == "well done"' },
      ],
      allowExtraTools: true,
    })
    make(enforcer, ['a', 'a', 'b'])
    expect(enforcer.validateToolCall('d').code).toBe('rule')
    enforcer.completeCurrentStep('well done')
    admit(enforcer, 'd')
  })

  it('are counted, also where a call passes over some', () => {
    const enforcer = enforce([step('a'), step('b', { required: false }), step('c')], {
      rules: [{ tool: '*', require: 'len(steps) == 3' }],
    })
    make(enforcer, ['a', 'c'])
    expect(enforcer.isComplete).toBe(true)
  })

  it('do not include what is no step', () => {
    const enforcer = enforce([step('a', { maxToolCalls: 2 })], {
      rules: [{ tool: 'a', require: 'steps[args.which].status == "pending"' }],
    })
    expect(enforcer.validateToolCall('a', { arguments: { which: 'b' } }).code).toBe('rule')
    admit(enforcer, 'a', { which: 'a' })
  })

  it('G3: are what they are, beside those that a call passes over', () => {
    const enforcer = enforce([step('a'), step('b', { required: false }), step('c')], {
      rules: [{ tool: 'c', require: 'steps.a.status == "completed" and steps.b.status == "skipped"' }],
    })
    make(enforcer, ['a', 'c'])
    expect(enforcer.isComplete).toBe(true)
  })
})
