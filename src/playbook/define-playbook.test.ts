import { describe, expect, expectTypeOf, it } from 'vitest'
import { definePlaybook } from './define-playbook.ts'
import type { PlaybookLoadError } from './playbook-load-error.ts'
import { PlaybookStep } from './playbook-step.ts'
import type { Playbook } from './playbook.ts'

/** The problems of a definition, whether the compiler let it through or not. */
function problems(define: () => Playbook): readonly string[] {
  try {
    define()
    return []
  } catch (error) {
    return (error as PlaybookLoadError).errors
  }
}

describe('definePlaybook', () => {
  it('gives a playbook', () => {
    const playbook = definePlaybook({
      id: 'refund',
      name: 'Refund',
      inputs: { order_id: 'string' },
      rules: [{ tool: 'refund', require: 'args.order_id == inputs.order_id' }],
      steps: [
        { id: 'verify', description: 'Look it up.', expectedTools: ['lookup'] },
        {
          id: 'pay',
          description: 'Pay it back.',
          expectedTools: ['refund'],
          after: ['verify'],
          arguments: {
            refund: { schema: { type: 'object', required: ['order_id'] }, require: 'args.amount < 100' },
          },
          validation: { minToolCalls: 1 },
        },
      ],
    })
    expectTypeOf(playbook).toEqualTypeOf<Playbook>()
    expect(playbook.getStep('pay')?.after).toEqual({ kind: 'step', id: 'verify' })
  })

  it('lets the compiler refuse steps, tools and keys that do not exist', () => {
    expect(
      problems(() =>
        definePlaybook({
          id: 'a',
          name: 'A',
          steps: [
            { id: 'one', description: '' },
            // @ts-expect-error -- no such step
            { id: 'two', description: '', after: 'onee' },
          ],
        }),
      ),
    ).toHaveLength(1)
    expect(
      problems(() =>
        definePlaybook({
          id: 'a',
          name: 'A',
          steps: [
            { id: 'one', description: '' },
            // @ts-expect-error -- no such step inside the group
            { id: 'two', description: '', after: { any: ['one', ['three']] } },
          ],
        }),
      ),
    ).toHaveLength(1)
    expect(
      problems(() =>
        definePlaybook({
          id: 'a',
          name: 'A',
          steps: [
            {
              id: 'one',
              description: '',
              expectedTools: ['look'],
              // @ts-expect-error -- arguments of a tool that the step does not expect
              arguments: { lok: { require: 'args.x == 1' } },
            },
          ],
        }),
      ),
    ).toHaveLength(1)
    // @ts-expect-error -- the spelling of files
    expect(problems(() => definePlaybook({ id: 'a', name: 'A', strict_sequence: true }))).toHaveLength(1)
    // @ts-expect-error -- a missing name
    expect(problems(() => definePlaybook({ id: 'a' }))).toHaveLength(1)
  })

  it('takes steps whose ids the compiler does not know', () => {
    const steps = ['a', 'b'].map((id) => new PlaybookStep({ id, description: id }))
    expect(definePlaybook({ id: 'a', name: 'A', steps }).steps).toHaveLength(2)
    expect(
      definePlaybook({ id: 'a', name: 'A', steps: [steps[0]!, { id: 'c', description: '', after: 'a' }] })
        .strictSequence,
    ).toBe(false)
  })

  it('takes arguments of any tool where a step admits extras', () => {
    const step = {
      id: 'one',
      description: '',
      expectedTools: ['*'],
      arguments: { other: { require: 'args.x == 1' } },
    } as const
    expect(definePlaybook({ id: 'a', name: 'A', steps: [step] }).steps[0]?.arguments['other']).toEqual({
      require: 'args.x == 1',
    })
  })
})
