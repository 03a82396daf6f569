import fc from 'fast-check'

const thrower = () => {
  throw new Error('gotcha')
}

const cyclic: Record<string, unknown> = { k: 1 }
cyclic['self'] = cyclic

/** Values that break what reads them carelessly. */
const traps: readonly unknown[] = [
  cyclic,
  new Proxy({}, { get: thrower, ownKeys: thrower, has: thrower, getPrototypeOf: thrower }),
  new Proxy([], { get: thrower }),
  new Proxy({}, { ownKeys: () => ['k'], getOwnPropertyDescriptor: thrower }),
  Object.defineProperty({}, 'arguments', { get: thrower, enumerable: true }),
  Object.defineProperty({}, 'callId', { get: thrower, enumerable: true }),
  Object.defineProperty({}, 'k', { get: thrower, enumerable: true }),
  { toString: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower },
  { __proto__: null, k: 1 },
  JSON.parse('{"__proto__": {"k": 1}, "constructor": 1}'),
  Symbol('a'),
  Symbol.iterator,
  1n,
  new Date(0),
  new Date(Number.NaN),
  new Map([['k', 1]]),
  new Set([1]),
  /a/,
  new Error('no'),
  Promise.resolve(1),
  thrower,
  Date,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  '\uD800',
  '\u0000',
  'а',
  'a\n',
  'A'.repeat(100_000),
  Array.from({ length: 200_000 }, () => 0),
  nest(1000),
  new Uint8Array(4),
  Object.freeze({ k: 1 }),
  Object.create({ k: 1 }),
  null,
  undefined,
]

/** Anything at all; behind a function, because whoever shows a failing value would step on the traps. */
export const hostileValue: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 2, arbitrary: trap((value) => value) },
  { weight: 1, arbitrary: trap((value) => ({ k: value, arguments: value, callId: value })) },
  {
    weight: 1,
    arbitrary: fc
      .anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSparseArray: true,
        withTypedArray: true,
      })
      .map((value) => () => value),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((value) => () => value) },
)

function trap(wrap: (value: unknown) => unknown): fc.Arbitrary<() => unknown> {
  return fc
    .nat({ max: traps.length - 1 })
    .map((at) => Object.assign(() => wrap(traps[at]), { toString: () => `trap ${at}` }))
}

function nest(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = { k: value }
  return value
}
