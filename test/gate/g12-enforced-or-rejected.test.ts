import { describe, expect, it } from 'vitest'
import { PlaybookStep } from '../../src/playbook/playbook-step.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { tool } from '../../src/tool/tool.ts'
import { enforce, playbookOf, step } from './enforce.ts'

const loading = (definition: object) => () => playbookOf([{ ...step('a'), ...definition } as never])

describe('a field is enforced or rejected', () => {
  it('G12: an unknown key of a step is an error with a suggestion', () => {
    expect(loading({ expectedTool: ['a'] })).toThrow(/expectedTool.*did you mean `expectedTools`/)
  })

  it('G12: an unknown key of a playbook, a validation or a rule is an error', () => {
    expect(() => playbookOf([], { maxIteration: 5 } as never)).toThrow(/maxIteration/)
    expect(loading({ validation: { minCalls: 1 } })).toThrow(/minCalls/)
    expect(() => playbookOf([step('a')], { rules: [{ tool: 'a', requires: 'true' } as never] })).toThrow(
      /requires/,
    )
  })

  it.each(['call', 'say', 'secrets', 'outputs'])(
    'G12: %s, which is not built yet, is refused as not available',
    (key) => {
      expect(loading({ [key]: true })).toThrow(/not available/)
    },
  )

  it.each([
    ['retry', { retry: { attempts: 3 } }],
    ['compensate', { compensate: { tool: 'undo' } }],
    ['foreach', { foreach: '{[1]}' }],
  ])('G12: %s, which only calls have, is refused where a model works', (key, definition) => {
    expect(loading(definition)).toThrow(`has \`${key}\`, but no \`tool\` that is called`)
  })

  it('G12: a step made on its own is held to the same keys', () => {
    expect(() => new PlaybookStep({ id: 'a', description: 'A', tools: ['x'] } as never)).toThrow(
      /expectedTools/,
    )
  })

  it('G12: an unknown key of a tool is an error', () => {
    expect(() => tool({ name: 'a', description: 'A', execute: () => 1, risky: true } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_tool', message: expect.stringContaining('risky') as string }),
    )
  })

  it('G12: an input that the playbook does not have is an error with a suggestion', () => {
    expect(() =>
      enforce([step('a')], { inputs: { customer: 'string' } }, { inputs: { custmer: 'x' } }),
    ).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        message: expect.stringMatching(/custmer.*did you mean 'customer'.*'customer' is missing/) as string,
      }),
    )
  })

  it('G12: an unknown key of a snapshot is an error', () => {
    const enforcer = enforce([step('a')])
    const snapshot = { ...enforcer.snapshot(), note: 'x' }
    expect(() => PlaybookEnforcer.restore(enforcer.playbook, snapshot)).toThrow(
      expect.objectContaining({ code: 'invalid_snapshot' }),
    )
  })
})
