/* oxlint-disable unicorn/no-thenable -- the word of policy files, never a function */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { describeDiagnostic } from '../document/diagnostic.ts'
import { compileJsonSchema } from '../shared/json-schema.ts'
import { checkPolicy } from './check-policy.ts'
import { parsePolicy } from './parse-policy.ts'
import { policyJsonSchema, policySchemaFile } from './policy-json-schema.ts'
import { ownTime } from '../shared/own-time.suite.ts'

const tools = ['k8s.drain_node', 'k8s.cordon_node', 'github.create_issue']

/** Every problem as `line: code what-is-marked`, as a person would find it. */
function problems(body: string, options: { tools?: readonly string[] } = {}): string[] {
  const { diagnostics, document, policy } = parsePolicy(`id: p\n${body}`, {
    format: 'yaml',
    file: 'p.yaml',
    ...options,
  })
  expect(policy === null).toBe(diagnostics.some(({ severity }) => severity === 'error'))
  return diagnostics.map((each) => {
    const line = document.lines.lineText(each.line!)
    const marked =
      each.line === each.endLine ? line.slice(each.column! - 1, each.endColumn! - 1) : line.trim()
    return `${each.line}: ${each.code} ${marked}`
  })
}

function message(body: string, options: { tools?: readonly string[] } = {}): string {
  return parsePolicy(`id: p\n${body}`, { format: 'yaml', ...options })
    .diagnostics.map(describeDiagnostic)
    .join('\n')
}

describe('checking a policy', () => {
  it.each([
    ['an unknown key', 'preconditons: []', '2: unknown_key preconditons'],
    [
      'an unknown key of an entry',
      'rules:\n  - { tool: x, requires: "true", require: "1 == inputs.x" }',
      '3: unknown_key requires',
    ],
    ['a word from elsewhere', 'freeze_windows: []', '2: unknown_key freeze_windows'],
    [
      'what is not built',
      'freeze:\n  - { weekly: { from: "Fri 18:00", to: "Mon 06:00", zone: Europe/Berlin } }',
      '3: not_available zone',
    ],
    ['a word that is not allowed', 'preconditions: [{ then: deny }]', '2: value_not_allowed deny'],
    [
      'a condition that does not parse',
      'preconditions: [{ when: context.env = 1, then: block }]',
      '2: invalid_expression =',
    ],
    ['a name that conditions do not know', 'rules: [{ require: arg.x > 1 }]', '2: invalid_expression arg'],
    [
      'a member that the asker lacks',
      'rules: [{ require: principal.roles == 1 }]',
      '2: invalid_expression principal.roles',
    ],
    ['a role that is not listed', 'roles: [SRE]\ntool_allowlist:\n  SER: ["*"]', '4: unknown_role SER'],
    [
      'a role of an approval',
      'roles: [SRE]\napprovals: [{ required_roles: [SRE, Boss] }]',
      '3: unknown_role Boss',
    ],
    [
      'a role of the defaults',
      'roles: [SRE]\napproval_defaults: { required_roles: [Boss] }',
      '3: unknown_role Boss',
    ],
    [
      'a role that breaks glass',
      'roles: [SRE]\nbreak_glass: { roles: [Boss], tool: x }',
      '3: unknown_role Boss',
    ],
    ['a role listed twice', 'roles: [SRE, SRE]', '2: duplicate_item SRE'],
    [
      'a precondition behind one without a condition',
      'preconditions:\n  - { then: allow }\n  - { tool: x, then: block }',
      '4: unreachable_rule tool',
    ],
    [
      'a precondition behind a wider one',
      'preconditions:\n  - { tool: "k8s.*", then: allow }\n  - { tool: [k8s.a, "k8s.b*"], step: s, then: block }',
      '4: unreachable_rule tool',
    ],
    [
      'a precondition that is there twice',
      'preconditions:\n  - { when: context.a == 1, then: allow }\n  - { when: context.a == 1, then: block }',
      '4: unreachable_rule when',
    ],
    [
      'a condition that never holds',
      'preconditions:\n  - { when: 1 > 2, then: block }',
      '3: unreachable_rule 1 > 2',
    ],
    [
      'a condition that can never be judged',
      'preconditions:\n  - { when: 1 / 0 > 2, then: block }',
      '3: impossible_rule 1 / 0 > 2',
    ],
    ['a requirement that never holds', 'rules:\n  - { require: "false" }', '3: impossible_rule "false"'],
    [
      'more approvals than approvers',
      'approvals: [{ approvers: [ann, bob, ann], count: 3 }]',
      '2: impossible_rule 3',
    ],
    [
      'more approvals by default',
      'approval_defaults: { count: 2 }\napprovals: [{ approvers: [ann] }]',
      '3: impossible_rule [ann]',
    ],
    ['an allowlist that allows nothing', 'tool_allowlist: { SRE: [] }', '2: impossible_rule tool_allowlist'],
    ['a limit without a number', 'limits: [{ per: 1h }]', '2: missing_key per'],
    ['a limit without a time', 'limits: [{ max_calls: 1 }]', '2: missing_key max_calls'],
    ['a limit that looks back too far', 'limits: [{ max_calls: 1, per: 401d }]', '2: out_of_range 401d'],
    ['a time that is none', 'limits: [{ max_calls: 1, per: an hour }]', '2: invalid_name an hour'],
    ['a window without an end', 'freeze: [{ from: 2026-01-01T00:00:00Z }]', '2: missing_key from'],
    [
      'a window with two beginnings',
      'freeze: [{ weekly: { from: Mon 00:00, to: Tue 00:00 }, to: x }]',
      '2: conflicting_keys to',
    ],
    [
      'a window that ends before it begins',
      'freeze: [{ from: 2026-01-02T00:00:00Z, to: 2026-01-01T00:00:00Z }]',
      '2: value_not_allowed 2026-01-01T00:00:00Z',
    ],
    [
      'a day that no week has',
      'freeze: [{ weekly: { from: Fr 18:00, to: Mon 06:00 } }]',
      '2: value_not_allowed Fr 18:00',
    ],
    [
      'an id that is there twice',
      'rules:\n  - { id: a, require: args.x == 1 }\n  - { id: a, require: args.x == 2 }',
      '4: duplicate_item a',
    ],
    ['nobody to break the glass', 'break_glass: { roles: [], tool: x }', '2: out_of_range []'],
    ['no tool to break it for', 'break_glass: { roles: [a] }', '2: missing_key roles'],
  ])('reports %s where it stands', (_, body, expected) => {
    expect(problems(body)).toEqual([expected])
  })

  it('warns of windows that overlap for the same calls, and only of those', () => {
    const weekend = '{ weekly: { from: "Fri 18:00", to: "Mon 06:00" } }'
    expect(
      problems(`freeze:\n  - ${weekend}\n  - { weekly: { days: [Sun], from: "00:00", to: "01:00" } }`),
    ).toEqual(['4: overlapping_windows weekly'])
    for (const other of [
      '{ weekly: { days: [Mon], from: "06:00", to: "07:00" } }',
      '{ weekly: { days: [Sun], from: "00:00", to: "01:00" }, then: require_approval }',
      '{ weekly: { days: [Sun], from: "00:00", to: "01:00" }, risk: [read] }',
    ]) {
      expect(problems(`freeze:\n  - ${weekend}\n  - ${other}`)).toEqual([])
    }
    const scoped = (tool: string) =>
      `{ tool: "${tool}", from: 2026-01-01T00:00:00Z, to: 2026-01-02T00:00:00Z }`
    expect(problems(`freeze:\n  - ${scoped('k8s.*')}\n  - ${scoped('github.*')}`)).toEqual([])
    expect(problems(`freeze:\n  - ${scoped('k8s.*')}\n  - ${scoped('k8s.a')}`)).toEqual([
      '4: overlapping_windows tool',
    ])
  })

  it('reports tools that do not exist, where it is known which do', () => {
    const body =
      'rules: [{ tool: k8s.drian_node, require: \'succeeded("k8s.cordon")\' }]\nfreeze: []\nbreak_glass: { roles: [a], tool: "k9s.*" }'
    expect(problems(body)).toEqual([])
    expect(problems(body, { tools })).toEqual([
      '2: unknown_tool k8s.drian_node',
      '2: unknown_tool succeeded("k8s.cordon")',
      '4: unmatched_rule "k9s.*"',
    ])
    expect(message(body, { tools })).toContain('did you mean `k8s.drain_node`?')
    expect(problems('tool_allowlist: { SRE: ["k8s.*", nothing] }', { tools })).toEqual([
      '2: unknown_tool nothing',
    ])
  })

  it('says what was probably meant', () => {
    expect(message('preconditons: []')).toBe(
      'unknown key `preconditons` in the policy, did you mean `preconditions`?',
    )
    expect(message('approvals: [{ quorum: 2 }]')).toContain('did you mean `count`?')
    expect(message('rules: [{ tools: [x], require: args.x }]')).toContain('did you mean `tool`?')
    expect(message('freeze: [{ weekly: { from: Mon 00:00, to: Tue 00:00, timezone: x } }]')).toContain(
      'offset: "+01:00"',
    )
    expect(message('roles: [SRE, OnCall]\napprovals: [{ required_roles: [OnCal] }]')).toContain(
      'did you mean `OnCall`?',
    )
    expect(message('rules: [{ require: principal.roles == 1 }]')).toContain('write `roles`')
    expect(message('version: 2')).toContain('write it in quotes: "2"')
  })

  it('reports every problem in one pass', () => {
    expect(
      problems(
        'roles: [SRE]\ntool_allowlist: { X: ["*"] }\nrules: [{ require: nope }]\nlimits: [{ per: 1h }]',
      ),
    ).toHaveLength(3)
  })

  it('finds the same in JSON', () => {
    const { policy, diagnostics } = parsePolicy('{\n  "id": "p",\n  "budgts": {}\n}', {
      format: 'json',
      file: 'p.json',
    })
    expect(policy).toBeNull()
    expect(diagnostics).toMatchObject([
      { code: 'unknown_key', line: 3, suggestion: 'did you mean `budgets`?' },
    ])
  })

  it('gives a digest of what was written: the order of keys and comments do not matter, values do', () => {
    const digest = (text: string) => parsePolicy(text, { format: 'yaml' }).policy!.digest
    expect(digest('id: p\nversion: "1" # one')).toBe(digest('version: "1"\nid: p'))
    expect(digest('id: p')).not.toBe(digest('id: p\nversion: 1.0.0'))
  })

  it('accepts the policies of the examples without a warning', () => {
    for (const name of ['production', 'laptop']) {
      const text = readFileSync(new URL(`../../examples/policies/${name}.yaml`, import.meta.url), 'utf8')
      expect(parsePolicy(text, { format: 'yaml' }).diagnostics).toEqual([])
    }
  })
})

describe('hostile policies', () => {
  it('throws for no value at all', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Array.isArray(checkPolicy(value as never).problems)).toBe(true)
      }),
    )
  })

  it('throws for no value under the keys of a policy', () => {
    const keys = Object.keys(policyJsonSchema()['properties'] as object)
    const entry = fc.dictionary(
      fc.constantFrom('id', 'tool', 'step', 'when', 'then', 'require', 'weekly', 'per'),
      fc.jsonValue(),
    )
    const value = fc.oneof(fc.jsonValue(), fc.array(entry, { maxLength: 3 }), entry)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), value), (policy) => {
        expect(Array.isArray(checkPolicy({ id: 'p', ...policy } as never).problems)).toBe(true)
      }),
    )
  })

  it.each<[string, object]>([
    [
      'preconditions without end',
      {
        preconditions: Array.from({ length: 20_000 }, (_, index) => ({
          step: `s${index}`,
          when: `args.x == ${index}`,
          then: 'block',
        })),
      },
    ],
    [
      'windows without end',
      {
        freeze: Array.from({ length: 20_000 }, () => ({
          from: '2026-01-01T00:00:00Z',
          to: '2026-01-02T00:00:00Z',
          risk: ['read'],
        })),
      },
    ],
    [
      'roles without end',
      {
        roles: Array.from({ length: 5_000 }, (_, index) => `r${index}`),
        approval_defaults: { required_roles: Array.from({ length: 5_000 }, (_, index) => `x${index}`) },
      },
    ],
    ['patterns of stars', { tool_allowlist: { a: Array.from({ length: 5_000 }, () => '*a'.repeat(60)) } }],
  ])('judges %s in good time', (_, policy) => {
    const start = ownTime()
    checkPolicy({ id: 'p', ...policy } as never, {
      tools: Array.from({ length: 200 }, (_each, index) => `tool_${index}_${'a'.repeat(90)}`),
    })
    expect(ownTime() - start).toBeLessThan(10_000)
  })

  it('keeps names like __proto__ from meaning anything', () => {
    expect(problems('tool_allowlist: { a: ["*"], __proto__: ["*"] }')).toEqual(['2: unknown_key __proto__'])
    expect(problems('__proto__: {}')).toEqual(['2: unknown_key __proto__'])
  })
})

describe('the JSON Schema of policy files', () => {
  it('is the one in the package: run `node scripts/write-policy-schema.ts` after a change', () => {
    const written = readFileSync(new URL(`../../${policySchemaFile}`, import.meta.url), 'utf8')
    expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(policyJsonSchema())))
  })

  it('accepts what the parser accepts and refuses what it refuses', () => {
    const { check } = compileJsonSchema(policyJsonSchema())
    expect(check({ id: 'p', preconditions: [{ tool: ['a', 'b*'], then: 'block' }] })).toEqual([])
    expect(check({ id: 'p', preconditions: [{ then: 'deny' }] })).not.toEqual([])
    expect(check({ preconditions: [] })).toEqual(['lacks `id`'])
    expect(check({ id: 'p', rule: [] })).toEqual(['`rule` is not allowed'])
  })
})
