import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import type { Person } from '../../src/agent/person.ts'
import { runPlaybook } from '../../src/agent/run-playbook.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { programOf } from './run-case.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'

function playbookOf(...bullets: string[]) {
  const text = `## Main\n### Steps\n${bullets.map((bullet) => `- ${bullet}`).join('\n')}\n`
  return programPlaybook(programOf({ text }), 'main')
}

describe('a program run by the library', () => {
  test('needs no model where it asks none, and returns its value as it is', async () => {
    const result = await runPlaybook(playbookOf('$x = [1, {"a": 2}]', 'Return $x'))
    expect(result).toMatchObject({ status: 'succeeded', value: [1, { a: 2 }], message: '[1,{"a":2}]' })
  })

  test('says which model is missing only at the step that needs one', async () => {
    const result = await runPlaybook(playbookOf('Greet the user warmly', 'Return 1'))
    expect(result).toMatchObject({ status: 'incomplete', value: null })
    expect(result.reason).toContain('needs a model')
  })

  test('a list of steps for a model still needs one', async () => {
    const playbook = definePlaybook({
      id: 'p',
      name: 'P',
      steps: [{ id: 's', description: 'Do it.', expectedTools: [] }],
    })
    await expect(runPlaybook(playbook)).rejects.toMatchObject({ code: 'unknown_model' })
  })

  test.each<[unknown, RegExp]>([
    [42, /hear gave a number/],
    [undefined, /hear gave nothing/],
    [{ text: 'x' }, /hear gave an object/],
  ])('a person who says %j is a mistake of the host', async (said, message) => {
    const person = { hear: async () => said } as unknown as Person
    const run = runPlaybook(playbookOf('Ask user for $name', 'Return $name'), { person })
    await expect(run).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) })
  })

  test.each([null, {}, 'Ann', () => 'Ann'])('%j is no person', async (person) => {
    const agent = new Agent({ model: 'none', playbook: playbookOf('Return 1') })
    const run = agent.run('', { person: person as never })
    await expect(run).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/person must have/),
    })
  })
})
