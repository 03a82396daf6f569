import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import {
  answering,
  noting,
  notingAll,
  playbookOf,
  proposing,
  saying,
  shownResults,
  step,
} from './run-agent.ts'

const control = ['complete_step', 'skip_step', 'fail_step']

describe('what the model is told (G10)', () => {
  const playbook = playbookOf(
    [
      step('a', { hints: ['Use the number on the letter.'] }),
      step('b', { required: false }),
      step('c', { expectedTools: [] }),
    ],
    { name: 'Returns', description: 'Take goods back.' },
  )

  test('is the outline first, the same each turn, after the system prompt', async () => {
    const { tools } = notingAll('a', 'b')
    const model = answering(proposing('a'), proposing('skip_step'), saying('Done.'))
    await new Agent({ model, tools, playbook, systemPrompt: 'Be brief.' }).run('go')
    const [first] = model.questions
    expect(first!.system).toMatch(
      /^Be brief\.\n\nYou work through the procedure "Returns"\. Take goods back\./,
    )
    expect(first!.system).toContain('1. a: Do a\n2. b (optional): Do b\n3. c: Do c')
    expect(new Set(model.questions.map(({ system }) => system)).size).toBe(1)
  })

  test('is the brief of the current step each turn, with its hints, and what ends it', async () => {
    const { tools } = notingAll('a', 'b')
    const model = answering(proposing('a'), proposing('skip_step'), saying('Done.'))
    await new Agent({ model, tools, playbook }).run('go')
    const briefs = model.questions.map(({ conversation }) => conversation.split('[procedure]').at(-1)!)
    expect(briefs[0]).toMatch(/Now: step 1 of 3, a: Do a.*Tools for it: a\..*Hint: Use the number/)
    expect(briefs[1]).toMatch(/Now: step 2 of 3, b.*It is optional: skip_step passes it/)
    expect(briefs[2]).toMatch(/Now: step 3 of 3, c.*Tools for it: no tool\..*call complete_step/)
  })

  test('leaves the history before the brief as it was, so that a prompt cache holds', async () => {
    const { tools } = notingAll('a', 'b')
    const model = answering(proposing('a'), proposing('b'), saying('Done.'))
    await new Agent({ model, tools, playbook }).run('go')
    const histories = model.questions.map(({ options }) =>
      options.prompt.slice(1, -1).map((each) => JSON.stringify(each)),
    )
    for (const [index, history] of histories.entries()) {
      if (index > 0) expect(history.slice(0, histories[index - 1]!.length)).toEqual(histories[index - 1])
    }
  })

  test('under `disclosure: step` names no step before its turn, in outline, brief or refusal', async () => {
    const { tools } = notingAll('a', 'secret_tool')
    const hidden = playbookOf([
      step('a'),
      step('secret', { expectedTools: ['secret_tool'], description: 'Hush', disclosure: 'step' }),
    ])
    const model = answering(
      proposing('secret_tool'),
      proposing('a'),
      proposing('secret_tool'),
      saying('Done.'),
    )
    const result = await new Agent({ model, tools, playbook: hidden }).run('go')
    expect(result.status).toBe('succeeded')
    const told = [0, 1].map((index) =>
      JSON.stringify(model.questions[index]!.options.prompt).replaceAll('secret_tool', ''),
    )
    for (const text of told) expect(text).not.toMatch(/Hush|'secret'|secret:/)
    expect(model.questions[0]!.system).toContain('and 1 more')
    expect(model.questions[2]!.system).toContain('2. secret: Hush')
    expect(model.questions[2]!.conversation).toContain('Now: step 2 of 2, secret: Hush')
  })

  test('is a refusal with code, step, what is allowed and what is next, marked as not executed', async () => {
    const { tools } = notingAll('a', 'b')
    const model = answering(proposing('b'), saying('x'))
    await new Agent({ model, tools, playbook: playbookOf([step('a'), step('b')]) }).run('go')
    expect(shownResults(model.questions[1]!)).toEqual([
      {
        type: 'error-json',
        value: {
          executed: false,
          code: 'out_of_sequence',
          message: "'b' belongs to step 'b', and step 'a' comes first.",
          step: 'a',
          allowed: ['a'],
          next: 'Work on step a: a.',
        },
      },
    ])
  })
})

describe('the tools the model is offered', () => {
  const playbook = playbookOf([step('a', { expectedTools: ['a', 'a2'] }), step('b')])

  test('are those that are legal, and stay the same while the step does', async () => {
    const { tools } = notingAll('a', 'a2', 'b', 'other')
    const model = answering(proposing('a'), proposing('a'), proposing('a2'), proposing('b'), saying('Done.'))
    await new Agent({ model, tools, playbook }).run('go')
    expect(model.questions.map((question) => question.tools)).toEqual([
      ['a', 'a2', 'fail_step'],
      ['a', 'a2', 'fail_step'],
      ['a', 'a2', 'fail_step'],
      ['b', 'fail_step'],
      ['complete_step'],
    ])
  })

  test('include the tool of the step behind an optional one, and extras where they are allowed', async () => {
    const { tools } = notingAll('a', 'b', 'c', 'other')
    const optional = playbookOf([step('a', { required: false }), step('b'), step('c')], {
      allowExtraTools: true,
    })
    const model = answering(saying('x'))
    await new Agent({ model, tools, playbook: optional }).run('go')
    expect(model.questions[0]!.tools).toEqual(['a', 'b', 'other', 'skip_step', 'fail_step'])
  })

  test('are all of them, always, with `offer: all`; and the gate judges as before', async () => {
    const { log, tools } = notingAll('a', 'a2', 'b')
    const model = answering(proposing('b'), proposing('a', 'a2'), proposing('b'), saying('Done.'))
    const result = await new Agent({ model, tools, playbook, offer: 'all' }).run('go')
    expect(result.status).toBe('succeeded')
    expect(log).toEqual(['a', 'a2', 'b'])
    for (const question of model.questions) expect(question.tools).toEqual(['a', 'a2', 'b', ...control])
  })

  test('come with their description and schema', async () => {
    const model = answering(saying('x'))
    const described = {
      ...noting([], 'a'),
      description: 'Looks.',
      input: { type: 'object', required: ['id'] },
    }
    await new Agent({ model, tools: [described] }).run('go')
    expect(model.questions[0]!.options.tools).toMatchObject([
      {
        type: 'function',
        name: 'a',
        description: 'Looks.',
        inputSchema: { type: 'object', required: ['id'] },
      },
    ])
  })

  test('one is left when every step is done, because services refuse a conversation with calls and no tools', async () => {
    const { tools } = notingAll('a')
    const model = answering(proposing('a'), proposing('complete_step'), saying('Done.'))
    const result = await new Agent({ model, tools, playbook: playbookOf([step('a')]) }).run('go')
    expect(model.questions[1]!.tools).toEqual(['complete_step'])
    expect(shownResults(model.questions[2]!)).toMatchObject([
      { value: { executed: false, next: 'Give your final answer.' } },
    ])
    expect(result.status).toBe('succeeded')
  })
})
