import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { playbookOf, step } from '../gate/enforce.ts'
import { tool } from '../../src/tool/tool.ts'
import { Agent } from '../../src/agent/agent.ts'
import { loadScriptedModel, scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'

const tools = [tool({ name: 'look', description: 'L', execute: () => 'seen' })]
const playbook = playbookOf([step('look')])
const run = (...turns: ScriptedTurn[]) =>
  new Agent({ model: scriptedModel({ turns }), tools, playbook }).run('Check it.')

describe('a scripted model', () => {
  test('says what its turns say, and counts what they are to have cost', async () => {
    const result = await run(
      { text: 'I look.', calls: [{ tool: 'look' }], usage: { prompt: 7, completion: 3 } },
      { text: 'Done.' },
    )
    expect(result).toMatchObject({ status: 'succeeded', message: 'Done.' })
    expect(result.metrics).toMatchObject({ promptTokens: 7, completionTokens: 3 })
  })

  test('passes when it was sent what it expects', async () => {
    const result = await run(
      {
        calls: [{ tool: 'look' }],
        expect: { tools: ['fail_step', 'look'], contains: ['Check it.'], lacks: ['seen'] },
      },
      { text: 'Done.', expect: { contains: ['seen'] } },
    )
    expect(result.reason).toBeNull()
  })

  test.each([
    [{ tools: ['pay'] }, 'script, turn 1: the model was offered fail_step, look instead of pay.'],
    [{ contains: ['"quoted"\nline'] }, 'was not sent'],
    [{ lacks: ['Check it.'] }, 'was sent "Check it."'],
  ])('fails the run with what was different: %j', async (expected, reason) => {
    const result = await run({ text: 'x', expect: expected })
    expect(result.status).toBe('failed')
    expect(result.reason).toContain(reason)
  })

  test('fails the run when it is asked for more turns than it has', async () => {
    expect((await run({ text: 'x' })).reason).toContain(
      'script has 1 turns, and the run asked for another one',
    )
  })

  test.each([
    [{ turns: [] }, /turns/],
    [{ turns: [{ txt: 'x' }] }, /turns\.0.*txt/],
    [{ turns: [{ calls: [{ arguments: {} }] }] }, /turns\.0\.calls\.0\.tool/],
    [null, /is not a script/],
  ])('that is none is refused with the place: %j', (script, message) => {
    expect(() => scriptedModel(script as never)).toThrow(message)
  })

  test('is read from YAML, anew for every run of an agent that names it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-script-'))
    const path = join(folder, 'turns.yaml')
    writeFileSync(path, 'turns:\n  - calls: [{ tool: look }]\n  - text: Done.\n')
    const agent = new Agent({ model: `scripted:${path}`, tools, playbook })
    expect((await agent.run('go')).status).toBe('succeeded')
    expect((await agent.run('go')).status).toBe('succeeded')
    writeFileSync(path, 'turns: [')
    await expect(agent.run('go')).rejects.toMatchObject({ code: 'invalid_script' })
    expect(() => loadScriptedModel(join(folder, 'absent.yaml'))).toThrow(
      expect.objectContaining({ code: 'invalid_script' }),
    )
  })
})
