import { describe, expect, it } from 'vitest'
import type { EnforcementResult } from '../../src/tool/enforcement-result.ts'
import type { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { admit, enforce, make, step } from './enforce.ts'

/** Everything about a refusal that could be shown to a model. */
function said(result: EnforcementResult): string {
  expect(result.allowed).toBe(false)
  return [result.violation?.message, result.violation?.stepId, result.currentStep?.id, ...result.hints].join(
    ' | ',
  )
}

const secret = (id: string, tool: string) => step(id, { expectedTools: [tool], hints: [`hint of ${id}`] })

describe('disclosure: step', () => {
  const hidden = () =>
    enforce([secret('first', 'look'), secret('second', 'tap'), secret('third', 'zap')], {
      disclosure: 'step',
    })

  it('G10: a refusal never names a later step or its tools', () => {
    const enforcer = hidden()
    for (const name of ['invented', 'tap', 'zap', '!', 'look']) {
      const result = enforcer.validateToolCall(name, { arguments: name === 'look' ? 5 : {} })
      const text = said(result).replaceAll(`'${name}'`, '')
      expect(text).not.toMatch(/second|third|tap|zap/)
      expect(text).toContain('first')
    }
  })

  it('G10: it names a step once its turn has come', () => {
    const enforcer = hidden()
    make(enforcer, 'look')
    const text = said(enforcer.validateToolCall('zap')).replaceAll("'zap'", '')
    expect(text).toContain('second')
    expect(text).not.toMatch(/third|zap/)
  })

  it('G10: the hints of the next step are kept back', () => {
    const enforcer = hidden()
    expect(enforcer.getNextStepHints()).toEqual([])
    expect(enforcer.currentStepHints).toEqual(['hint of first'])
  })

  it('G10: a step that is held back again stays known', () => {
    const enforcer = enforce([step('first', { maxToolCalls: 3 }), step('second'), step('third')], {
      disclosure: 'step',
    })
    make(enforcer, 'first')
    admit(enforcer, 'first')
    expect(said(enforcer.validateToolCall('second'))).toContain('second')
    expect(said(enforcer.validateToolCall('third')).replaceAll("'third'", '')).not.toContain('third')
  })

  it("G10: a rule without a message does not tell of a later step in its condition's words", () => {
    const enforcer = enforce([secret('first', 'look'), secret('second', 'tap')], {
      disclosure: 'step',
      allowExtraTools: true,
      rules: [
        { tool: 'look', require: 'args.n > 0 or succeeded("tap")' },
        { tool: 'extra', require: 'steps.second.status == "completed"', message: 'not yet' },
      ],
    })
    expect(said(enforcer.validateToolCall('look', { arguments: { n: 0 } }))).not.toMatch(/second|tap/)
    expect(said(enforcer.validateToolCall('extra', { arguments: {} }))).toContain('not yet')
  })

  it('G10: a step can be hidden on its own, and shown on its own', () => {
    const one = enforce([step('first'), step('second', { disclosure: 'step' }), step('third')])
    expect(said(one.validateToolCall('third'))).toContain("step 'third'")
    expect(said(one.validateToolCall('second')).replaceAll("'second'", '')).not.toContain('second')
    const other = enforce([step('first'), step('second', { disclosure: 'outline' })], { disclosure: 'step' })
    expect(said(other.validateToolCall('second'))).toContain("step 'second'")
  })
})

describe('disclosure: outline', () => {
  const open = (): PlaybookEnforcer =>
    enforce([secret('first', 'look'), secret('second', 'tap'), secret('third', 'zap')])

  it('G10: a refusal names the step the tool belongs to and the one that comes first', () => {
    const result = open().validateToolCall('zap')
    expect(result.violation?.message).toBe("'zap' belongs to step 'third', and step 'first' comes first.")
  })

  it('G10: in a graph it names the step that is waited for, not any that is open', () => {
    const enforcer = enforce([step('other'), step('a'), step('b', { after: 'a' })])
    expect(enforcer.validateToolCall('b').violation?.message).toBe(
      "'b' belongs to step 'b', and step 'a' comes first.",
    )
  })

  it('G10: a refusal says what the current step expects, and its hints', () => {
    const { hints } = open().validateToolCall('zap')
    expect(hints).toEqual(["Current step 'first' expects: look.", 'hint of first'])
  })

  it('G10: a step without tools is said to expect none, and one with "*" any that no step names', () => {
    const none = enforce([step('talk', { expectedTools: [] })]).validateToolCall('x')
    expect(none.hints[0]).toContain('no tool')
    const any = enforce([step('a', { expectedTools: ['a', '*'] }), step('b')]).validateToolCall('b')
    expect(any.hints[0]).toContain('a, any tool that no step names')
  })

  it('G10: the hints of the next step can be asked for', () => {
    expect(open().getNextStepHints()).toEqual(['hint of second'])
  })
})
