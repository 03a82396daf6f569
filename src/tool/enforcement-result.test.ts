import { describe, expect, it } from 'vitest'
import { PlaybookStep } from '../playbook/playbook-step.ts'
import { EnforcementResult, EnforcementViolation } from './enforcement-result.ts'

describe('EnforcementViolation', () => {
  it('needs only its type and its message; it names no step or tool, was not blocked, and has a time', () => {
    const before = Date.now()
    const violation = new EnforcementViolation({ violationType: 'unexpected_tool', message: 'not now' })
    expect(violation).toMatchObject({
      violationType: 'unexpected_tool',
      message: 'not now',
      stepId: null,
      toolName: null,
      blocked: false,
    })
    expect(violation.timestamp.getTime()).toBeGreaterThanOrEqual(before)
    expect(violation.timestamp.getTime()).toBeLessThanOrEqual(Date.now())
  })

  it('keeps every field it is given', () => {
    const fields = {
      violationType: 'max_tool_calls',
      message: 'too many',
      stepId: 'verify',
      toolName: 'lookup_order',
      timestamp: new Date('2026-01-01T00:00:00Z'),
      blocked: true,
    } as const
    expect({ ...new EnforcementViolation(fields) }).toEqual(fields)
  })
})

describe('EnforcementResult', () => {
  it('that allows a call carries no violation, hints or step unless given', () => {
    expect({ ...new EnforcementResult({ allowed: true }) }).toEqual({
      allowed: true,
      code: null,
      message: null,
      callId: null,
      violation: null,
      hints: [],
      currentStep: null,
    })
  })

  it('that refuses a call keeps the violation, its code, the hints and the step', () => {
    const violation = new EnforcementViolation({ violationType: 'out_of_sequence', message: 'not yet' })
    const currentStep = new PlaybookStep({ id: 'verify', description: 'Verify' })
    const result = new EnforcementResult({
      allowed: false,
      code: 'out_of_sequence',
      violation,
      hints: ['verify first'],
      currentStep,
    })
    expect(result).toMatchObject({ allowed: false, code: 'out_of_sequence', hints: ['verify first'] })
    expect(result.violation).toBe(violation)
    expect(result.currentStep).toBe(currentStep)
  })

  it('never shares its empty list of hints in a form that can be written to', () => {
    const { hints } = new EnforcementResult({ allowed: true })
    expect(() => (hints as string[]).push('x')).toThrow(TypeError)
    expect(new EnforcementResult({ allowed: true }).hints).toEqual([])
  })
})
