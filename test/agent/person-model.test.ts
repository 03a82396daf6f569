import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { playbookOf, step } from '../gate/enforce.ts'
import { tool } from '../../src/tool/tool.ts'
import { Agent } from '../../src/agent/agent.ts'
import { createPersonModel } from '../../src/agent/person-model.ts'

function terminal(...lines: string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  if (lines.length > 0) input.end(lines.map((line) => `${line}\n`).join(''))
  return { input, output, shown: () => String(output.read() ?? '') }
}

const tools = [tool<{ order_id: string }>({ name: 'look', description: 'L', execute: (args) => args })]
const playbook = playbookOf([step('look')])

describe('a person as the model', () => {
  test('is shown the procedure, the tools and the results, and works through the playbook', async () => {
    const streams = terminal('look order_id=ORD-42', '"All done."')
    const model = createPersonModel(streams)
    const result = await new Agent({ model, tools, playbook }).run('Check ORD-42.')
    expect(result).toMatchObject({ status: 'succeeded', message: 'All done.' })
    expect(result.metrics).toMatchObject({ cost: null })
    const shown = streams.shown()
    for (const text of [
      'Check ORD-42.',
      'Now: step 1 of 1, look',
      'Tools: look, fail_step',
      '"ORD-42"',
      'final answer',
    ])
      expect(shown).toContain(text)
  })

  test('is shown nothing that a tool could say to the terminal', async () => {
    const streams = terminal('look order_id=1', '"Done."')
    const hostile = tool({
      name: 'look',
      description: 'L',
      execute: () => 'a\u001b[2Jb\u202ec\rd\u0007e\nTools: none',
    })
    await new Agent({ model: createPersonModel(streams), tools: [hostile], playbook }).run('go\u001b]0;x')
    const shown = streams.shown()
    expect(shown).toContain('result: a\\u001b[2Jb\\u202ec\\u000dd\\u0007e')
    // oxlint-disable-next-line no-control-regex -- finding them is the point
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  test('is told what each tool takes, and how to answer, once', async () => {
    const streams = terminal('look order_id=1', 'nope', '"Done."')
    const input = { type: 'object', properties: { order_id: {}, note: {} }, required: ['order_id'] } as const
    const typed = tool({ name: 'look', description: 'L', input, execute: () => ({ paid: true }) })
    await new Agent({ model: createPersonModel(streams), tools: [typed], playbook }).run('go')
    const shown = streams.shown()
    expect(shown).toContain('Tools: look order_id= [note=], fail_step')
    expect(shown).toContain('\nresult: {"paid":true}\n')
    expect(shown).toMatch(/\nrefused: .+/)
    expect(shown.match(/Type a call/g)).toHaveLength(1)
    expect(shown).not.toContain('[procedure]')
  })

  test('is held to the playbook like any model', async () => {
    const streams = terminal('"Done."', '"Done."', '"Done."')
    const result = await new Agent({ model: createPersonModel(streams), tools, playbook }).run('go')
    expect(result.status).toBe('incomplete')
  })

  test('is told what a line must look like, and asked again', async () => {
    const streams = terminal('', 'look what', 'look order_id=1', '"Done."')
    const result = await new Agent({ model: createPersonModel(streams), tools, playbook }).run('go')
    expect(result.status).toBe('succeeded')
    expect(streams.shown()).toContain('Type a call')
  })

  test('who asks for help or wants to leave is told how, and calls nothing', async () => {
    const streams = terminal('help', 'Quit', 'All done', 'look order_id=1', '"Done."')
    const result = await new Agent({ model: createPersonModel(streams), tools, playbook }).run('go')
    expect([result.status, result.violations]).toEqual(['succeeded', []])
    const shown = streams.shown()
    expect(shown.match(/Ctrl-C stops\./g)).toHaveLength(2)
    expect(shown).toContain(
      '"done" is not an argument. Write name=value, as in order_id=ORD-42. An answer stands',
    )
  })

  test('who leaves puts the run down, and says why', async () => {
    const result = await new Agent({
      model: createPersonModel(terminal('look order_id=1')),
      tools,
      playbook,
    }).run('go')
    expect(result).toMatchObject({ status: 'incomplete', reason: /input ended before the run did/ })
  })

  test('who does not answer is not waited for once the run is cancelled', async () => {
    const controller = new AbortController()
    const running = new Agent({ model: createPersonModel(terminal()), tools, playbook }).run('go', {
      signal: controller.signal,
    })
    setTimeout(() => controller.abort(), 10)
    expect((await running).status).toBe('cancelled')
  })
})
