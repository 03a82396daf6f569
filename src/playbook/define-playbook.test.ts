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

  it('takes calls, which need no description', () => {
    const playbook = definePlaybook({
      id: 'roll-back',
      name: 'Roll back',
      inputs: { nodes: 'array' },
      onFailure: 'compensate',
      steps: [
        {
          id: 'cordon',
          tool: 'cordon_node',
          foreach: '{inputs.nodes}',
          input: { node_name: '{item}', force_it: { by_hand: false } },
          retry: { attempts: 3, delaySeconds: 0.5 },
          requiredRoles: ['OnCall'],
          verify: {
            tool: 'get_node',
            input: { node: '{item}' },
            expect: 'result.cordoned',
            retry: { maxDelaySeconds: 9 },
          },
          compensate: { tool: 'uncordon_node', input: { node: '{output.node}' } },
          arguments: { cordon_node: { require: 'args.node_name != "master"' } },
        },
        { id: 'report', description: 'Say what was done.', after: 'cordon' },
      ],
    })
    const [cordon] = playbook.steps
    expect(cordon).toMatchObject({
      description: 'cordon_node',
      input: { node_name: '{item}', force_it: { by_hand: false } },
      requiresApproval: true,
      retry: { attempts: 3, delaySeconds: 0.5, backoff: 2, maxDelaySeconds: 300 },
      verify: { retry: { attempts: 1, maxDelaySeconds: 9 } },
    })
    expect(playbook.steps[1]!.after).toEqual({ kind: 'step', id: 'cordon' })
    const head = { id: 'a', name: 'A' } as const
    const made = (define: () => Playbook) => problems(define).length
    // @ts-expect-error -- a goal needs words
    expect(made(() => definePlaybook({ ...head, steps: [{ id: 'b', hints: ['c'] }] }))).toBe(1)
    // @ts-expect-error -- the spelling of files
    expect(made(() => definePlaybook({ ...head, steps: [{ id: 'b', tool: 'x', on_limit: 'fail' }] }))).toBe(1)
    const rules = { y: { require: 'true' } } as const
    // @ts-expect-error -- arguments of another tool than the one that is called
    expect(made(() => definePlaybook({ ...head, steps: [{ id: 'b', tool: 'x', arguments: rules }] }))).toBe(1)
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
