import { afterEach, describe, expect, test } from 'vitest'
import { compileExpression, type ContextFunction } from './compile-expression.ts'
import { ExpressionError } from './expression-error.ts'
import { LazyRecord, type ExpressionValue } from './expression-value.ts'

function run(
  source: string,
  values: Record<string, unknown> = {},
  profile: 'condition' | 'template' = 'template',
) {
  const names = Object.keys(values)
  const { expression, errors } = compileExpression<null>(source, { profile, names })
  return expression === null
    ? errors[0]!
    : expression.evaluate(Object.values(values) as ExpressionValue[], null)
}

function nested(levels: number): ExpressionValue {
  let value: ExpressionValue = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

/** Time on the processor, so that a busy machine does not count against the expression. */
function secondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

const bombs: Record<string, string> = {
  'ten thousand parentheses': '('.repeat(5000) + ')'.repeat(5000),
  'ten thousand opening brackets': '['.repeat(10_000),
  'ten thousand opening braces': '{'.repeat(10_000),
  'nested f-strings': "f'{".repeat(2000),
  'nested calls': 'len('.repeat(2500),
  'nested comprehensions': '[x for x in '.repeat(800),
  'nested choices in the test': `${'1 if ('.repeat(1000)}1`,
  'nots without end': 'not '.repeat(2500),
  'loops in loops': `sum(1 ${'for x in range(1000) '.repeat(1)}${Array.from({ length: 60 }, (_, i) => `for y${i} in range(1000)`).join(' ')})`,
  'a long body in a long loop': `[${Array.from({ length: 900 }, () => 'x').join(' + ')} for x in range(100000)]`,
  'text that doubles': `[${'a + '.repeat(500)}a for a in ["x" * 1000] * 1000]`,
  'lists that double': Array.from({ length: 60 }).reduce<string>(
    (inner, _, i) => `[[a${i}, a${i}] for a${i} in ${inner}]`,
    '[1]',
  ),
  'dicts that double': Array.from({ length: 40 }).reduce<string>(
    (inner, _, i) => `[{"a": a${i}, "b": a${i}} for a${i} in ${inner}]`,
    '[1]',
  ),
  'replacing again and again': `("a" * 1000)${'.replace("a", "aa")'.repeat(400)}`,
  'splitting again and again': `len(${'("a," * 300000).split(",") + '.repeat(200)}[])`,
  'sorting again and again': `sum(len(sorted(range(100000))) for x in range(100000))`,
  'printing again and again': `sum(len(str(range(100000))) for x in range(100000))`,
  'comparing long texts': 'sum(1 for x in range(100000) if "a" * 900000 == "a" * 900000)',
  'searching long texts': 'sum(1 for x in range(100000) if "b" in "a" * 900000)',
  'powers of powers': `9${'**9'.repeat(90)}`,
  'a sum that grows': Array.from({ length: 1500 }, () => '1e308').join('+'),
  'methods without end': `"a"${'.lower()'.repeat(1200)}`,
  'a wide format': "f'{1:>999}' * 100000",
  'dicts that grow': '{str(x) + str(y): x for x in range(1000) for y in range(100000)}',
  'a long chain of members': `x${'.y'.repeat(4900)}`,
  'a long chain of indexes': `[[1]]${'[0]'.repeat(3000)}`,
  'truth of nothing, often': 'sum(1 for x in range(100000) for y in range(100000) if {})',
}

describe('a bomb ends soon with an error', () => {
  test.each(Object.entries(bombs))('%s', (_, source) => {
    const start = process.cpuUsage()
    expect(run(source)).toBeInstanceOf(ExpressionError)
    expect(secondsSince(start)).toBeLessThan(2)
  })

  test('the same holds for a condition over long lists', () => {
    const xs = Array.from({ length: 100_000 }, (_, i) => i)
    const start = process.cpuUsage()
    const value = run('any(a + b + c < 0 for a in xs for b in xs for c in xs)', { xs }, 'condition')
    expect(value).toMatchObject({ code: 'expression_limit' })
    expect(secondsSince(start)).toBeLessThan(2)
  })

  test('long texts of the data cannot be compared without end', () => {
    const xs = Array.from({ length: 10_000 }, () => 'x')
    const [a, b] = [`${'a'.repeat(1_000_000)}b`, `${'a'.repeat(1_000_000)}c`]
    for (const sign of ['==', '>', 'in']) {
      expect(run(`any(a ${sign} b for x in xs)`, { xs, a, b }, 'condition')).toMatchObject({
        code: 'expression_limit',
      })
    }
  })
})

test('a dict is bounded like a list: 100,000 keys and not one more', () => {
  const xs = Array.from({ length: 100_000 }, (_, i) => `k${i}`)
  expect(run('len({x: 1 for x in xs}) == 100000', { xs })).toBe(true)
  expect(run('{x: 1 for x in xs}', { xs: [...xs, 'one more'] })).toMatchObject({
    code: 'expression_limit',
    message: 'the dict becomes too long',
  })
  expect(run('len({x: 1 for x in xs})', { xs: [...xs, 'k0'] })).toBe(100_000)
})

test('a chain of five thousand members is read to its end', () => {
  let x: ExpressionValue = 'end'
  for (let i = 0; i < 4990; i++) x = { y: x }
  expect(run(`x${'.y'.repeat(4990)}`, { x })).toBe('end')
})

describe('hostile data', () => {
  test('nested ten thousand deep is compared, printed and returned without a stack overflow', () => {
    const x = nested(10_000)
    expect(run('x == y', { x, y: nested(10_000) })).toMatchObject({ code: 'expression_limit' })
    expect(run('str(x)', { x })).toMatchObject({ code: 'expression_limit' })
    expect(run('[x]', { x })).toMatchObject({ code: 'expression_limit' })
    expect(run('{"a": x}', { x })).toMatchObject({ code: 'expression_limit' })
    expect(run('{k: x for k in ["a"]}', { x })).toMatchObject({ code: 'expression_limit' })
    expect(run('[[null, 1.5, "text", true], {"a": {"b": null}}] + [x for x in []]', {})).toEqual([
      [null, 1.5, 'text', true],
      { a: { b: null } },
    ])
    expect(run('x in [y]', { x, y: nested(10_000) })).toMatchObject({ code: 'expression_limit' })
  })

  test('with an own key __proto__ stays ordinary data', () => {
    const x = JSON.parse('{"__proto__": {"admin": true}}') as unknown
    expect(run('x.__proto__.admin', { x })).toBe(true)
    expect(run('has(x.admin)', { x })).toBe(false)
    expect(run('{k: v for k, v in x.items()}.admin', { x })).toMatchObject({ code: 'missing_value' })
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test('that no JSON document can hold gives errors, and its methods are never called', () => {
    let calls = 0
    const trap = {
      toString: () => String(calls++),
      valueOf: () => calls++,
      toJSON: () => calls++,
      f: () => calls++,
    }
    for (const source of [
      'x.f',
      'x.f + 1',
      'str(x.f)',
      'f"{x.f}"',
      'x.f < 1',
      'x.f == 1',
      'len(x.f)',
      'x.f.call',
      'x.f[0]',
    ]) {
      const value = run(source, { x: trap })
      expect(value === false || value instanceof ExpressionError).toBe(true)
    }
    expect(run('x < 1', { x: trap })).toBeInstanceOf(ExpressionError)
    expect(run('x.when', { x: { when: 5n } })).toMatchObject({ code: 'wrong_type' })
    expect(run('x.get', { x: new Map([['get', 1]]) })).toMatchObject({ code: 'missing_value' })
    expect(run('x.size', { x: new Map() })).toMatchObject({ code: 'missing_value' })
    expect(calls).toBe(0)
  })

  test('with a member that is undefined counts as lacking it', () => {
    const x = { a: undefined, b: 1 }
    expect(run('has(x.a)', { x })).toBe(false)
    expect(run('len(x)', { x })).toBe(1)
    expect(run('x == {"b": 1}', { x })).toBe(true)
    expect(run('"a" in x', { x })).toBe(false)
  })
})

describe('a polluted prototype', () => {
  const polluted = Object.prototype as { approved?: boolean; amount?: number }
  afterEach(() => {
    delete polluted.approved
    delete polluted.amount
  })

  test('changes no answer, before or after compiling', () => {
    const { expression } = compileExpression<null>('args.approved or args.amount < 5', {
      profile: 'condition',
      names: ['args'],
    })
    polluted.approved = true
    polluted.amount = 1
    expect(expression!.evaluate([{}], null)).toMatchObject({ code: 'missing_value' })
    expect(run('args.approved or args.amount < 5', { args: {} }, 'condition')).toMatchObject({
      code: 'missing_value',
    })
    expect(run('"approved" in args', { args: {} }, 'condition')).toBe(false)
    expect(run('args.keys()', { args: {} })).toEqual([])
  })
})

describe('a lazy record', () => {
  class Steps extends LazyRecord {
    readonly secret = 'own fields are not members'
    asked: string[] = []
    get(key: string): ExpressionValue | undefined {
      this.asked.push(key)
      return key === 'verify' ? { status: 'completed' } : undefined
    }
    keys(): readonly string[] {
      return ['verify']
    }
  }

  test('is asked for the members that are read, and shows nothing else', () => {
    const steps = new Steps()
    expect(run('steps.verify.status == "completed"', { steps }, 'condition')).toBe(true)
    expect(run('has(steps.secret) or has(steps.keys) or has(steps.asked)', { steps }, 'condition')).toBe(
      false,
    )
    expect(run('"verify" in steps and "secret" not in steps', { steps }, 'condition')).toBe(true)
    expect(steps.asked).toEqual(['verify', 'secret', 'keys', 'asked', 'verify', 'secret'])
  })

  test('can be counted, listed, printed and compared by value', () => {
    expect(run('len(steps)', { steps: new Steps() })).toBe(1)
    expect(run('steps.items()', { steps: new Steps() })).toEqual([['verify', { status: 'completed' }]])
    expect(run('f"{steps}"', { steps: new Steps() })).toBe('{"verify":{"status":"completed"}}')
    expect(run('steps == {"verify": {"status": "completed"}}', { steps: new Steps() })).toBe(true)
  })

  test('that contains itself is not followed without end', () => {
    class Loop extends LazyRecord {
      get(): ExpressionValue {
        return this
      }
      keys(): readonly string[] {
        return ['self']
      }
    }
    expect(run('x == y', { x: new Loop(), y: new Loop() })).toMatchObject({ code: 'expression_limit' })
    expect(run('str(x)', { x: new Loop() })).toMatchObject({ code: 'expression_limit' })
  })
})

describe('a context function', () => {
  test('that throws leaves the expression usable', () => {
    let isBroken = true
    const probe: ContextFunction<null> = {
      name: 'probe',
      literal: false,
      keywords: false,
      returns: 'boolean',
      bind: () => () => {
        if (isBroken) throw new Error('host')
        return true
      },
    }
    const { expression } = compileExpression<null>('any(probe() and x > 1 for x in [1, 2])', {
      profile: 'condition',
      names: [],
      functions: [probe],
    })
    expect(() => expression!.evaluate([], null)).toThrow('host')
    isBroken = false
    expect(expression!.evaluate([], null)).toBe(true)
    expect(expression!.evaluate([], null)).toBe(true)
  })

  test('may evaluate the same expression again without disturbing its variables', () => {
    let depth = 0
    const again: ContextFunction<() => ExpressionValue | ExpressionError> = {
      name: 'again',
      literal: false,
      keywords: true,
      returns: 'any',
      bind: () => (host) => (depth++ < 2 ? (host() as ExpressionValue) : 0),
    }
    const { expression } = compileExpression('sum(x + 0 * len(str(again(n=x))) + x for x in [1, 2, 3])', {
      profile: 'template',
      names: [],
      functions: [again],
    })
    const host = (): ExpressionValue | ExpressionError => expression!.evaluate([], host)
    expect(expression!.evaluate([], host)).toBe(12)
  })
})
