import { describe, expect, it } from 'vitest'
import { parsePlaybook } from './parse-playbook.ts'
import { ownTime } from '../shared/own-time.suite.ts'

const head = 'id: a\nname: A\n'

/** Each problem as its code, the text it marks and what it says. */
function found(
  text: string,
  tools?: readonly string[],
): { code: string; mark: string; message: string; suggestion: string | null }[] {
  const { diagnostics, document } = parsePlaybook(text.startsWith('id:') ? text : head + text, {
    format: 'yaml',
    tools,
  })
  return diagnostics.map(({ code, message, suggestion, line, column, endLine, endColumn }) => {
    const row = document.lines.lineText(line!)
    return {
      code,
      message,
      suggestion,
      mark: row.slice(column! - 1, endLine === line ? endColumn! - 1 : undefined),
    }
  })
}

function step(keys: string): string {
  return `steps:\n  - id: s\n    description: d\n${keys.replace(/^/gm, '    ')}\n`
}

describe('every check says what, where and what instead', () => {
  it.each<[rule: string, text: string, code: string, mark: string, says: RegExp]>([
    ['an unknown key', 'stepz: []', 'unknown_key', 'stepz', /did you mean `steps`/],
    [
      'an unknown key of a step',
      step('expected_tool: [x]'),
      'unknown_key',
      'expected_tool',
      /did you mean `expected_tools`/,
    ],
    [
      'the camelCase of code',
      step('expectedTools: [x]'),
      'unknown_key',
      'expectedTools',
      /did you mean `expected_tools`/,
    ],
    ['a word from elsewhere', step('depends_on: x'), 'unknown_key', 'depends_on', /did you mean `after`/],
    [
      'an unknown key of a validation',
      step('validation: { min_calls: 1 }'),
      'unknown_key',
      'min_calls',
      /step `s`/,
    ],
    [
      'an unknown key of an input',
      'inputs: { x: { type: string, defualt: a } }',
      'unknown_key',
      'defualt',
      /did you mean `default`/,
    ],
    [
      'an unknown key of a rule',
      'rules: [{ tool: x, requires: "true", require: "true" }]',
      'unknown_key',
      'requires',
      /did you mean `require`/,
    ],
    [
      'what is not built yet, in a step',
      step('outputs: [ann]'),
      'not_available',
      'outputs',
      /not available in this version/,
    ],
    [
      'what is not built yet, in a playbook',
      'policy: x',
      'not_available',
      'policy',
      /not available in this version/,
    ],
    [
      'a wrong type',
      step('expected_tools: lookup'),
      'wrong_type',
      'lookup',
      /must be a list of strings.*\[lookup\]/s,
    ],
    [
      'an unknown word',
      step('on_limit: escalete'),
      'value_not_allowed',
      'escalete',
      /did you mean `escalate`/,
    ],
    ['a negative limit', step('max_tool_calls: -1'), 'out_of_range', '-1', /0 or more/],
    ['a fraction as limit', step('max_tool_calls: 1.5'), 'wrong_type', '1.5', /whole number/],
    ['a timeout of nothing', step('timeout_seconds: 0'), 'out_of_range', '0', /above 0/],
    ['no iterations', 'max_iterations: 0', 'out_of_range', '0', /1 or more/],
    ['a tool name that is not ASCII', step('expected_tools: [löschen]'), 'invalid_name', 'löschen', /ASCII/],
    ['a step id with spaces', 'steps: [{ id: a b, description: d }]', 'invalid_name', 'a b', /ASCII/],
    [
      'a step id that is too long',
      `steps: [{ id: ${'x'.repeat(129)}, description: d }]`,
      'invalid_name',
      'x'.repeat(129),
      /128/,
    ],
    [
      'an input name that conditions cannot say',
      'inputs: { order-id: string }',
      'invalid_name',
      'order-id',
      /letters/,
    ],
    [
      'a prototype key among inputs',
      'inputs: { __proto__: string }',
      'unknown_key',
      '__proto__',
      /not allowed/,
    ],
    ['a tool named twice', step('expected_tools: [x, y, x]'), 'duplicate_item', 'x', /twice/],
    ['"*" named twice', step('expected_tools: ["*", "*"]'), 'duplicate_item', '"*"', /twice/],
    [
      'a duplicate step',
      'steps: [{ id: s, description: d }, { id: s, description: d }]',
      'duplicate_step',
      's',
      /duplicate.*1 and 2/,
    ],
    [
      'an unknown step',
      step('after: z') + '  - { id: look, description: d, after: [s, lok] }',
      'unknown_step',
      'z',
      /does not exist/,
    ],
    [
      'an order that contradicts itself',
      `strict_sequence: true\n${step('after: []')}`,
      'out_of_range',
      '[]',
      /must not be empty/,
    ],
    ['an empty group', step('after: { any: [] }'), 'out_of_range', '[]', /must not be empty/],
    ['an unknown group', step('after: { some: [x] }'), 'wrong_type', 'some', /any.*all/],
    ['all of no tools', step('complete_when: all'), 'impossible_completion', 'all', /names no tool/],
    [
      'any of no tools',
      step('expected_tools: ["*"]\ncomplete_when: any'),
      'impossible_completion',
      'any',
      /names no tool/,
    ],
    ['a number of no tools', step('complete_when: 1'), 'impossible_completion', '1', /names no tool/],
    [
      'more tools than there are',
      step('expected_tools: [x]\ncomplete_when: 2'),
      'impossible_completion',
      '2',
      /asks for 2 tools, and there are 1/,
    ],
    [
      'calls without a tool',
      step('validation: { min_tool_calls: 1 }'),
      'impossible_completion',
      '1',
      /no tool to call/,
    ],
    [
      'keywords without a tool',
      step('validation: { required_result_keywords: [ok] }'),
      'impossible_completion',
      '[ok]',
      /no tool to call/,
    ],
    [
      'a schema of results without a tool',
      step('validation: { result_schema: true }'),
      'impossible_completion',
      'true',
      /no tool to call/,
    ],
    [
      'a result where no call is allowed',
      step(
        'expected_tools: [x]\ncomplete_when: declared\nmax_tool_calls: 0\nvalidation: { result_schema: true }',
      ),
      'cap_too_low',
      '0',
      /at least 1 call$/,
    ],
    [
      'a cap below all tools',
      step('expected_tools: [x, y, z]\nmax_tool_calls: 2'),
      'cap_too_low',
      '2',
      /at least 3 calls/,
    ],
    [
      'a cap below the number',
      step('expected_tools: [x, y]\ncomplete_when: 2\nmax_tool_calls: 1'),
      'cap_too_low',
      '1',
      /at least 2 calls/,
    ],
    [
      'a cap below the minimum',
      step('expected_tools: [x]\nvalidation: { min_tool_calls: 4 }\nmax_tool_calls: 3'),
      'cap_too_low',
      '3',
      /at least 4 calls/,
    ],
    [
      'no calls where one is needed',
      step('expected_tools: [x]\nmax_tool_calls: 0'),
      'cap_too_low',
      '0',
      /at least 1 call$/,
    ],
    [
      'arguments of a tool not expected',
      step('expected_tools: [x]\narguments: { y: { require: "true" } }'),
      'unexpected_arguments',
      'y',
      /does not expect/,
    ],
    [
      'arguments of a tool of another step',
      `${step('expected_tools: ["*"]\narguments: { y: { require: "true" } }')}  - { id: t, description: d, expected_tools: [y] }`,
      'unexpected_arguments',
      'y',
      /does not expect/,
    ],
    [
      'a rule that binds nothing',
      `${step('expected_tools: [refund]')}rules: [{ tool: refnd, require: "true" }]`,
      'unmatched_rule',
      'refnd',
      /did you mean `refund`/,
    ],
    ['a limit without extras', 'max_extra_calls: 3', 'no_effect', 'max_extra_calls', /allow_extra_tools/],
    [
      'a condition that does not parse',
      step('when: "inputs.x =="'),
      'invalid_expression',
      '',
      /`when` of step `s`/,
    ],
    [
      'a name that is not there',
      step('when: args.x == 1'),
      'invalid_expression',
      'args',
      /there is no `args` here/,
    ],
    ['a condition that is not one', step('when: "3"'), 'invalid_expression', '3', /true or false/],
    [
      'an unknown input',
      `inputs: { order_id: string }\n${step('when: inputs.oder_id == "x"')}`,
      'unknown_input',
      'inputs.oder_id',
      /did you mean `order_id`/,
    ],
    [
      'an unknown step in a condition',
      step('when: steps.x.status == "completed"'),
      'unknown_step',
      'steps.x.status',
      /does not exist/,
    ],
    [
      'an unknown member of a step',
      step('when: steps.s.state == "completed"'),
      'invalid_expression',
      'steps.s.state',
      /`status`, `result`, `calls`/,
    ],
    [
      'an unknown tool in a question about the past',
      `${step('expected_tools: [lookup]')}rules: [{ tool: lookup, require: 'not succeeded("lokup")' }]`,
      'unknown_tool',
      'lokup',
      /did you mean `lookup`/,
    ],
    [
      'a bad condition for completion',
      step('expected_tools: [x]\ncomplete_when: "calls >"'),
      'invalid_expression',
      '',
      /complete_when/,
    ],
    [
      'a bad condition of validation',
      step('validation: { expression: "args.x == 1" }'),
      'invalid_expression',
      'args',
      /validation.expression/,
    ],
    [
      'a bad condition for arguments',
      step('expected_tools: [x]\narguments: { x: { require: "results == 1" } }'),
      'invalid_expression',
      'results',
      /arguments.x.require/,
    ],
    [
      'a bad schema of results',
      step('expected_tools: [x]\nvalidation: { result_schema: { type: strng } }'),
      'invalid_schema',
      'strng',
      /did you mean `string`/,
    ],
    [
      'a bad schema of arguments',
      step('expected_tools: [x]\narguments: { x: { schema: { properties: { a: { pattern: "(a+)+" } } } } }'),
      'invalid_schema',
      '"(a+)+"',
      /pattern/,
    ],
    [
      'a bad schema of an input',
      'inputs: { x: { type: string, schema: { $ref: "https://example.com" } } }',
      'invalid_schema',
      '"https://example.com"',
      /into this schema/,
    ],
    [
      'a default of another type',
      'inputs: { x: { type: integer, default: 1.5 } }',
      'invalid_default',
      '1.5',
      /not of type integer/,
    ],
    [
      'a default that is not listed',
      'inputs: { x: { type: string, enum: [a, b], default: c } }',
      'invalid_default',
      'c',
      /does not list/,
    ],
    [
      'a default that does not fit its schema',
      'inputs: { x: { type: string, schema: { minLength: 3 }, default: ab } }',
      'invalid_default',
      'ab',
      /too short/,
    ],
    [
      'a listed value of another type',
      'inputs: { x: { type: string, enum: [a, 3] } }',
      'invalid_default',
      '3',
      /not of type string/,
    ],
    [
      'a required input with a default',
      'inputs: { x: { type: string, required: true, default: a } }',
      'conflicting_keys',
      'true',
      /required and has a default/,
    ],
  ])('%s', (_, text, code, mark, says) => {
    const first = found(text).find((problem) => problem.code === code)
    expect(first).toBeDefined()
    expect(first!.mark).toBe(mark)
    expect(`${first!.message} ${first!.suggestion ?? ''}`.trim()).toMatch(says)
    if (code !== 'unknown_step' && code !== 'invalid_expression')
      expect(found(text).map((problem) => problem.code)).toContain(code)
  })

  it('a tool that the registry lacks', () => {
    expect(found(step('expected_tools: [lookup_order, "*"]'), ['lookup_orders'])).toEqual([
      expect.objectContaining({
        code: 'unknown_tool',
        mark: 'lookup_order',
        suggestion: 'did you mean `lookup_orders`?',
      }),
    ])
  })

  it('an order written and one given by after, at once', () => {
    const text = `strict_sequence: true\nsteps:\n  - { id: a, description: d }\n  - { id: b, description: d, after: a }\n`
    expect(found(text)).toEqual([expect.objectContaining({ code: 'conflicting_keys', mark: 'true' })])
  })

  it('circles in the order, named, and the steps that wait for them', () => {
    const text = `steps:
  - { id: a, description: d, after: c }
  - { id: b, description: d, after: a }
  - { id: c, description: d, after: [b, x] }
  - { id: x, description: d }
  - { id: y, description: d, after: b }
  - { id: z, description: d, after: { any: [b, x] } }
  - { id: self, description: d, after: self }
`
    expect(found(text).map(({ code, message, mark }) => [code, message, mark])).toEqual([
      ['cyclic_order', 'the order of steps is a circle: a → c → b → a', 'c'],
      ['unreachable_step', 'step `y` can never be reached: it waits for steps in a circle', 'b'],
      ['cyclic_order', 'the order of steps is a circle: self → self', 'self'],
    ])
  })

  it('many problems in one pass, in the order of the file', () => {
    const text = `id: a
nam: A
steps:
  - id: one
    description: d
    expected_tools: [x, y]
    max_tool_calls: 1
    after: two
    when: input.x == 1
  - id: 7
    description: d
    hint: []
  - id: one
    description: d
`
    expect(found(text).map(({ code }) => code)).toEqual([
      'missing_key',
      'unknown_key',
      'cap_too_low',
      'invalid_expression',
      'wrong_type',
      'unknown_key',
      'duplicate_step',
    ])
  })

  it('does not judge what follows from a part it could not read', () => {
    expect(
      found(step('expected_tools: 3\ncomplete_when: all\nmax_tool_calls: 0')).map(({ code }) => code),
    ).toEqual(['wrong_type'])
    expect(found(`inputs: 3\n${step('when: inputs.x == 1')}`).map(({ code }) => code)).toEqual(['wrong_type'])
  })
})

describe('what is allowed', () => {
  it.each([
    [
      'a cap below completion where the limit advances',
      step('expected_tools: [x, y]\nmax_tool_calls: 1\non_limit: advance'),
    ],
    ['no calls in a step that is declared', step('max_tool_calls: 0')],
    [
      'declared completion with tools',
      step('expected_tools: [x]\ncomplete_when: declared\nmax_tool_calls: 0'),
    ],
    ['arguments of extras', step('expected_tools: ["*"]\narguments: { other: { require: args.x == 1 } }')],
    ['a rule for extras', 'allow_extra_tools: true\nrules: [{ tool: delete_*, require: "false" }]'],
    ['questions about extras', step('expected_tools: ["*"]\nwhen: count("anything") < 3')],
    [
      'null for absent',
      step(
        'max_tool_calls: null\nwhen: null\nafter: null\ncomplete_when: null\ndisclosure: null\ntimeout_seconds: null',
      ),
    ],
    ['a reference to the schema', '$schema: ../schema/playbook.json'],
    [
      'dots, slashes and dashes in names',
      'steps: [{ id: a/b.c-d, description: d, expected_tools: [mcp/x.y-z] }]',
    ],
    [
      'steps with unusual names in conditions',
      'steps: [{ id: a-b, description: d, when: \'steps["a-b"].status == "pending"\' }]',
    ],
    ['an empty list of steps', 'steps: []'],
    [
      'a condition of 4,000 characters',
      step(
        `when: ${Array.from({ length: 200 }, (_, index) => `inputs.x != ${1000 + index}`).join(' and ')}`,
      ) + 'inputs: { x: number }',
    ],
  ])('%s', (_, text) => {
    expect(found(text)).toEqual([])
  })

  it('a thousand steps, in good time', () => {
    const steps = Array.from(
      { length: 1000 },
      (_, index) =>
        `  - id: s${index}\n    description: d\n    expected_tools: [t${index}]\n${index > 0 ? `    after: s${index - 1}\n` : ''}`,
    )
    const start = ownTime()
    expect(found(`steps:\n${steps.join('')}`)).toEqual([])
    expect(ownTime() - start).toBeLessThan(3_000)
  })
})

describe('hostile playbooks', () => {
  const many = (count: number, row: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => row(index))

  it.each<[string, string]>([
    [
      'rules for tools that are almost right',
      `steps: [{ id: s, description: d, expected_tools: [${many(3000, (index) => `tool${index}`).join()}] }]\nrules:\n${many(8000, (index) => `- { tool: tol${index}*, require: "true" }`).join('\n')}`,
    ],
    [
      'steps that are almost right',
      `steps:\n${many(8000, (index) => `- { id: step${index}, description: d, after: stp${index} }`).join('\n')}`,
    ],
    [
      'thousands of circles',
      `steps:\n${many(10_000, (index) => `- { id: s${index}, description: d, after: s${index ^ 1} }`).join('\n')}`,
    ],
    [
      'one circle of thousands',
      `steps:\n${many(10_000, (index) => `- { id: s${index}, description: d, after: s${(index + 1) % 10_000} }`).join('\n')}`,
    ],
    [
      'tens of thousands of tools',
      `steps: [{ id: s, description: d, expected_tools: [${many(50_000, (index) => `t${index}`).join()}] }]\nfoo: 1`,
    ],
    [
      'tens of thousands of values',
      `inputs: { x: { type: string, default: z, enum: [${many(50_000, (index) => `t${index}`).join()}] } }`,
    ],
    [
      'a schema with thousands of members',
      `inputs: { x: { type: object, schema: { properties: { ${many(15_000, (index) => `t${index}: { type: strin }`).join(', ')} } } } }`,
    ],
  ])('judges %s in good time', (_, text) => {
    const start = ownTime()
    const problems = found(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(ownTime() - start).toBeLessThan(15_000)
    expect(problems[0]!.message.length).toBeLessThan(500)
  })
})
