import { describe, expect, it } from 'vitest'
import { parseDocument } from '../document/parse-document.ts'
import { checkConfig } from './config-check.ts'

function check(text: string) {
  const { document } = parseDocument(text, { format: 'yaml' })
  const { config, problems } = checkConfig(document.value()!, { spelling: 'file', folder: '/', file: null })
  return {
    config,
    problems: problems
      .map((problem) => document.locate(problem))
      .map(
        ({ code, line, message, suggestion }) =>
          `${line} ${code}: ${message}${suggestion ? ` (${suggestion})` : ''}`,
      ),
  }
}

const input = 'input: { type: object, properties: { node: { type: string } } }'

describe('what a configuration says about the effects of tools', () => {
  it('is read for requests and for programs', () => {
    const { config, problems } = check(`
practice: true
tools:
  http:
    - name: cordon
      description: Cordons
      method: POST
      url: https://x.example/nodes/{args.node}
      ${input}
      target: node/{args.node}
      idempotent: true
      compensate: { tool: uncordon, input: { node: "{args.node}", was: "{result.was}" } }
      reconcile:
        url: https://x.example/keys/{key}
        applied: status == 200
        not_applied: status == 404
        result: "{body.answer}"
    - { name: uncordon, description: Uncordons, method: POST, url: https://x.example/ }
  exec:
    - name: restart
      description: Restarts
      command: [restart, "{args.node}", "{key}"]
      reconcile: { command: [is-restarted, "{key}"] }
`)
    expect(problems).toEqual([])
    expect(config).toMatchObject({
      practice: true,
      http: [
        {
          target: 'node/{args.node}',
          idempotent: true,
          idempotencyHeader: 'Idempotency-Key',
          compensate: { tool: 'uncordon', input: { node: '{args.node}', was: '{result.was}' } },
          reconcile: { headers: null, applied: 'status == 200', notApplied: 'status == 404' },
        },
        { name: 'uncordon' },
      ],
      exec: [{ target: null, idempotent: false, compensate: null, reconcile: { applied: null } }],
    })
  })

  it('is off and empty by default', () => {
    const { config } = check('tools: { http: [{ name: a, description: A, url: "https://x.example/" }] }')
    expect(config).toMatchObject({
      practice: false,
      http: [{ idempotencyHeader: null, reconcile: null, compensate: null, target: null }],
    })
  })

  it.each<[string, string, string]>([
    [
      'a target that names no argument',
      'target: "node/{args.nod}"',
      'the `input` has no `nod` (did you mean `node`?)',
    ],
    ['a target with the key', 'target: "{key}"', '`target` of the http tool `t`: there is no `key` here'],
    [
      'a key that is misspelt',
      'idempotnt: true',
      'unknown key `idempotnt` in the http tool `t` (did you mean `idempotent`?)',
    ],
    ['a compensation without a tool', 'compensate: { input: {} }', '`compensate.tool`'],
    [
      'a compensation with a secret',
      'compensate: { tool: u, input: { a: "env:X" } }',
      'cannot refer to a secret',
    ],
    ['a header for the key that is none', 'idempotency_header: "a b"', '`a b` is no name of a header'],
    [
      'a header for the key that belongs to the connection',
      'idempotency_header: Host',
      'the header `Host` cannot be set',
    ],
    [
      'two values for the key',
      '{ idempotent: true, headers: { idempotency-key: x } }',
      '`headers` sets `Idempotency-Key`',
    ],
    [
      'a condition that is none',
      'reconcile: { url: "https://x.example/", applied: "status = 200" }',
      '`reconcile.applied`',
    ],
    [
      'a condition that is no truth value',
      'reconcile: { url: "https://x.example/", applied: status + 1 }',
      'a condition must be true or false',
    ],
    ['a reconcile without a condition', 'reconcile: { url: "https://x.example/" }', '`reconcile.applied`'],
    [
      'a reconcile at another host with the headers of the tool',
      'reconcile: { url: "https://y.example/", applied: status == 200 }',
      'is another host than that of the tool',
    ],
    [
      'a reconcile whose host is filled in',
      'reconcile: { url: "https://{args.node}/", applied: status == 200 }',
      'must begin with http:// or https:// and a host',
    ],
    [
      'a reconcile of what only reads',
      '{ risk: read, reconcile: { url: "https://x.example/", applied: status == 200 } }',
      '`reconcile` has no meaning for a tool that only reads',
    ],
    [
      'an idempotent read',
      '{ risk: read, idempotent: true }',
      '`idempotent` has no meaning for a tool that only reads',
    ],
  ])('refuses %s, with its place', (_, fields, message) => {
    const given = fields.startsWith('{') ? fields.slice(1, -1) : fields
    const { problems } = check(`
tools:
  http:
    - { name: t, description: T, url: "https://x.example/{args.node}", ${input},
        ${given} }
`)
    expect(problems.join('\n')).toContain(message)
    expect(problems[0]).toMatch(/^[45] /)
  })

  it('refuses an undoing by a tool that is not there, unless it may be one of a module, a server or practice', () => {
    const text = (tool: string) => `
tools:
  exec:
    - { name: add, description: A, command: [a], compensate: { tool: ${tool} } }
    - { name: remove, description: R, command: [r] }
`
    expect(check(text('remove')).problems).toEqual([])
    expect(check(text('remov')).problems).toEqual([
      '4 unknown_tool: `compensate.tool` of the exec tool `add`: there is no tool `remov` (did you mean `remove`?)',
    ])
    expect(check(text('practice.refund')).problems).toHaveLength(1)
    expect(check(`practice: true${text('practice.refund')}`).problems).toEqual([])
    expect(check(`mcpServers: { m: { command: m } }${text('m/undo')}`).problems).toEqual([])
  })

  it('another host is fine with headers of its own', () => {
    const { problems } = check(`
tools:
  http:
    - name: t
      description: T
      method: POST
      url: https://x.example/
      reconcile: { url: "https://y.example/", headers: {}, applied: status == 200 }
`)
    expect(problems).toEqual([])
  })

  it('refuses `not_applied` where exit codes say it', () => {
    const { problems } = check(`
tools:
  exec:
    - { name: t, description: T, command: [a], reconcile: { command: [b], not_applied: output.x } }
`)
    expect(problems).toEqual([expect.stringContaining('4 missing_key: `not_applied` needs `applied`')])
  })
})
