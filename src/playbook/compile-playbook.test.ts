import { describe, expect, it } from 'vitest'
import { compilePlaybook } from './compile-playbook.ts'
import { Playbook, type PlaybookDefinition } from './playbook.ts'
import type { PlaybookStepDefinition } from './playbook-step.ts'

const step = (id: string, fields: Partial<PlaybookStepDefinition> = {}): PlaybookStepDefinition => ({
  id,
  description: id,
  expectedTools: [id],
  ...fields,
})
const compile = (steps: readonly PlaybookStepDefinition[], fields: Partial<PlaybookDefinition> = {}) =>
  compilePlaybook(new Playbook({ id: 'p', name: 'P', ...fields, steps }))

describe('compilePlaybook', () => {
  it('is done once for each playbook', () => {
    const playbook = new Playbook({ id: 'p', name: 'P' })
    expect(compilePlaybook(playbook)).toBe(compilePlaybook(playbook))
    expect(compilePlaybook(new Playbook({ id: 'p', name: 'P' }))).not.toBe(compilePlaybook(playbook))
  })

  it('gives equal playbooks one digest, and others another', () => {
    const { digest } = compile([step('a')])
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(compile([step('a')]).digest).toBe(digest)
    expect(compile([step('a', { required: true, hints: [] })]).digest).toBe(digest)
    expect(compile([step('a', { hints: ['x'] })]).digest).not.toBe(digest)
    expect(compile([step('a')], { version: '2' }).digest).not.toBe(digest)
  })
})

describe('order', () => {
  it('is a chain by default: each step after the one before', () => {
    const { order, steps, precedes } = compile([step('a'), step('b'), step('c')])
    expect(order).toBe('chain')
    expect(steps.map(({ predecessors }) => predecessors)).toEqual([
      null,
      { kind: 'step', index: 0 },
      { kind: 'step', index: 1 },
    ])
    expect(steps.map(({ successors }) => successors)).toEqual([[1], [2], []])
    expect([precedes(0, 2), precedes(2, 0), precedes(1, 1)]).toEqual([true, false, false])
  })

  it('is free with strict_sequence: false', () => {
    const { order, steps, precedes } = compile([step('a'), step('b')], { strictSequence: false })
    expect(order).toBe('free')
    expect(
      steps.every(({ predecessors, successors }) => predecessors === null && successors.length === 0),
    ).toBe(true)
    expect(precedes(0, 1)).toBe(false)
  })

  it('is a graph with after, and knows what comes before through others', () => {
    const { order, steps, precedes } = compile([
      step('a'),
      step('b', { after: 'a' }),
      step('c'),
      step('d', { after: { any: ['b', { all: ['a', 'c'] }] } }),
    ])
    expect(order).toBe('graph')
    expect(steps[3]!.predecessors).toEqual({
      kind: 'any',
      of: [
        { kind: 'step', index: 1 },
        {
          kind: 'all',
          of: [
            { kind: 'step', index: 0 },
            { kind: 'step', index: 2 },
          ],
        },
      ],
    })
    expect(steps[0]!.successors).toEqual([1, 3])
    expect([precedes(0, 3), precedes(2, 3), precedes(0, 2), precedes(3, 0)]).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})

describe('completion', () => {
  const completionOf = (fields: Partial<PlaybookStepDefinition>) =>
    compile([step('a', fields)]).steps[0]!.completion

  it.each<[string, Partial<PlaybookStepDefinition>, object]>([
    ['all by default', { expectedTools: ['x', 'y'] }, { kind: 'tools', need: 2, declared: false }],
    ['all', { expectedTools: ['x', 'y'], completeWhen: 'all' }, { kind: 'tools', need: 2, declared: false }],
    ['any', { expectedTools: ['x', 'y'], completeWhen: 'any' }, { kind: 'tools', need: 1, declared: false }],
    ['a number', { expectedTools: ['x', 'y'], completeWhen: 2 }, { kind: 'tools', need: 2, declared: false }],
    ['tools and a declaration', { expectedTools: ['x', '*'] }, { kind: 'tools', need: 1, declared: true }],
    ['declared without tools', { expectedTools: [] }, { kind: 'declared' }],
    ['declared with "*" alone', { expectedTools: ['*'] }, { kind: 'declared' }],
    ['declared', { completeWhen: 'declared' }, { kind: 'declared' }],
  ])('is %s', (_, fields, completion) => {
    expect(completionOf(fields)).toEqual(completion)
  })

  it('is a condition where the text is none of the words', () => {
    expect(completionOf({ completeWhen: 'calls > 1' })).toMatchObject({ kind: 'condition' })
  })
})

describe('what conditions ask', () => {
  it('becomes one index for each tool and set of arguments, however often and in whatever order it is asked', () => {
    const { pastByTool } = compile([step('a', { when: 'succeeded("b", x=1, y=2)' }), step('b')], {
      strictSequence: false,
      rules: [
        { tool: 'a', require: 'count("b", y=args.y, x=args.x) == 0 and not failed("b")' },
        { tool: 'b', require: 'count("b") < 3' },
      ],
    })
    expect([...pastByTool.keys()]).toEqual(['b'])
    expect(pastByTool.get('b')!.map(({ names }) => names)).toEqual([['x', 'y'], []])
  })

  it('makes the steps that a condition completes watchers', () => {
    const { watchers } = compile([
      step('a'),
      step('b', { completeWhen: 'calls > 0' }),
      step('c', { validation: { expression: 'calls > 0' } }),
      step('d', { validation: { minToolCalls: 1 } }),
    ])
    expect(watchers).toEqual([1, 2])
  })

  it('knows whether a requirement reads the arguments', () => {
    const { rulesFor } = compile([step('a')], {
      rules: [
        { tool: 'a', require: 'args.n > 1' },
        { tool: '*', require: 'count("a") < 3' },
      ],
    })
    expect(rulesFor('a').map(({ readsArguments }) => readsArguments)).toEqual([true, false])
  })
})

describe('tools', () => {
  it('knows which steps name a tool, in order; "*" names none', () => {
    const { stepsByTool, steps } = compile([
      step('a', { expectedTools: ['t', 'u', '*'] }),
      step('b', { expectedTools: ['t'] }),
    ])
    expect(Object.fromEntries(stepsByTool)).toEqual({ t: [0, 1], u: [0] })
    expect(steps.map(({ admitsExtras }) => admitsExtras)).toEqual([true, false])
  })

  it('finds the rules of named tools and of any other name alike', () => {
    const { rulesFor } = compile([step('pay_now')], {
      allowExtraTools: true,
      rules: [
        { tool: 'pay_*', require: 'true' },
        { tool: '*', require: 'true' },
      ],
    })
    expect(rulesFor('pay_now')).toHaveLength(2)
    expect(rulesFor('pay_later')).toHaveLength(2)
    expect(rulesFor('look')).toHaveLength(1)
  })

  it('counts time in milliseconds, and keywords in lower case', () => {
    const compiled = compile([
      step('a', { timeoutSeconds: 1.5, validation: { requiredResultKeywords: ['OK', 'Straße'] } }),
    ])
    expect(compiled.steps[0]).toMatchObject({ timeout: 1500, keywords: ['ok', 'straße'] })
  })
})
