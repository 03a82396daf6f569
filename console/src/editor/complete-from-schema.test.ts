import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { describe, expect, test } from 'vitest'
import { playbookJsonSchema } from '../../../src/playbook/playbook-json-schema.ts'
import { completeFromSchema, pathOf } from './complete-from-schema.ts'

const complete = completeFromSchema(playbookJsonSchema())

/** What is offered where the bar stands. */
function offered(text: string): readonly string[] {
  const pos = text.indexOf('|')
  const state = EditorState.create({ doc: text.replace('|', '') })
  return complete(new CompletionContext(state, pos, true))?.options.map(({ label }) => label) ?? []
}

describe('the way to a line', () => {
  test.each([
    [[], 0, []],
    [['id: a', 'steps:'], 2, ['steps']],
    [['steps:', '  - id: look'], 4, ['steps', '[]']],
    [['steps:', '  - id: look', '    validation:'], 6, ['steps', '[]', 'validation']],
    [['steps:', '  - id: look', '    validation:', '      x: 1'], 4, ['steps', '[]']],
    [['steps:', '- id: look'], 2, ['steps', '[]']],
  ] as const)('%j at %i is %j', (lines, indentation, path) => {
    expect(pathOf(lines, indentation)).toEqual(path)
  })
})

describe('what is offered', () => {
  test('at the top: the keys of a playbook', () => {
    expect(offered('|')).toEqual(expect.arrayContaining(['id', 'steps', 'inputs']))
  })
  test('in a step: the keys of a step, not those of a playbook', () => {
    const keys = offered('id: a\nsteps:\n  - id: look\n    exp|')
    expect(keys).toContain('expected_tools')
    expect(keys).not.toContain('steps')
    expect(offered('steps:\n  - |')).toContain('expected_tools')
  })
  test('after a key with a closed list: its values', () => {
    expect(offered('steps:\n  - id: look\n    on_limit: |')).toEqual(
      expect.arrayContaining(['fail', 'escalate']),
    )
    expect(offered('strict_sequence: |')).toEqual(expect.arrayContaining(['true', 'false']))
  })
  test('nothing in the middle of a sentence', () => {
    expect(offered('description: Looks at the |')).toEqual([])
  })
})
