import fc from 'fast-check'
import type { Json } from '../../src/shared/json.ts'
import type { Outcome, Proposal } from './naive-state.ts'
import { randomTool } from './random-playbook.ts'

/** Something a host or a model does to a run. Numbers pick among what there is when it is done. */
export type Operation =
  | { readonly type: 'validate'; readonly call: Proposal }
  | {
      readonly type: 'record'
      readonly at: number
      readonly tool: string | null
      readonly outcome: Outcome
      readonly result?: Json
    }
  | {
      readonly type: 'recordByName'
      readonly tool: string
      readonly outcome: Outcome
      readonly result?: Json
    }
  /** Calls some tool that is legal now, and records how it ended. */
  | {
      readonly type: 'proceed'
      readonly at: number
      readonly k: number
      readonly outcome: Outcome
      readonly result?: Json
    }
  | { readonly type: 'complete'; readonly result: string | null }
  | { readonly type: 'declare'; readonly at: number }
  | { readonly type: 'skip' }
  | { readonly type: 'fail' }
  | { readonly type: 'retry'; readonly at: number }
  | { readonly type: 'iterate' }
  | { readonly type: 'finish' }
  | { readonly type: 'wait'; readonly ms: number; readonly notice: boolean }
  | { readonly type: 'roundTrip' }
  | { readonly type: 'reset' }
  | { readonly type: 'forecast'; readonly calls: readonly Proposal[] }

const tool = fc.oneof(
  { weight: 15, arbitrary: randomTool },
  { weight: 1, arbitrary: fc.constantFrom('z', '-a', '', 'ä', 'a b', '__proto__', 'A'.repeat(129)) },
)

const args = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 9, arbitrary: fc.constantFrom<unknown>({}, { k: 1 }, { k: 1 }, { k: 1 }, { k: 2 }, { k: '1' }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'text', { k: true }, { k: 1n }) },
)

const outcome = fc.constantFrom<Outcome>(
  'succeeded',
  'succeeded',
  'succeeded',
  'succeeded',
  'failed',
  'unknown',
  'not_executed',
)

const result = fc.constantFrom<{ result?: Json }>(
  {},
  { result: 'All OK' },
  { result: 'Okay, vexed' },
  { result: { v: 1 } },
  { result: { v: 1 } },
  { result: { v: 2, note: 'ok' } },
  { result: null },
)

/** A call somebody proposes. */
export const randomProposal: fc.Arbitrary<Proposal> = fc
  .record({
    tool,
    args,
    callId: fc.oneof(
      { weight: 4, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom('i1', 'i2', 'i3', 'i4') },
    ),
    veto: fc.oneof(
      { weight: 20, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constant('the policy forbids it') },
    ),
  })
  .map(({ tool, args, callId, veto }) => ({
    tool,
    ...(args === undefined ? {} : { args }),
    ...(callId === undefined ? {} : { callId }),
    ...(veto === undefined ? {} : { veto }),
  }))

const at = fc.nat({ max: 99 })
const record = <Shape>(shape: { [Key in keyof Shape]: fc.Arbitrary<Shape[Key]> }) => fc.record(shape)

const weighted: { weight: number; arbitrary: fc.Arbitrary<Operation> }[] = [
  { weight: 12, arbitrary: record({ type: fc.constant('validate' as const), call: randomProposal }) },
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        at,
        fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: tool }),
        outcome,
        result,
      )
      .map(([at, tool, outcome, result]) => ({ type: 'record', at, tool, outcome, ...result }) as const),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(tool, outcome, result)
      .map(([tool, outcome, result]) => ({ type: 'recordByName', tool, outcome, ...result }) as const),
  },
  {
    weight: 14,
    arbitrary: fc
      .tuple(at, fc.constantFrom(1, 1, 2), outcome, result)
      .map(([at, k, outcome, result]) => ({ type: 'proceed', at, k, outcome, ...result }) as const),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(null, 'done').map((result) => ({ type: 'complete', result }) as const),
  },
  { weight: 1, arbitrary: at.map((at) => ({ type: 'declare', at }) as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'skip' } as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'fail' } as const) },
  { weight: 3, arbitrary: at.map((at) => ({ type: 'retry', at }) as const) },
  { weight: 2, arbitrary: fc.constant({ type: 'iterate' } as const) },
  { weight: 1, arbitrary: fc.constant({ type: 'finish' } as const) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 400, 1000, 2500, 5000), fc.boolean())
      .map(([ms, notice]) => ({ type: 'wait', ms, notice }) as const),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'roundTrip' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .array(randomProposal, { maxLength: 4 })
      .map((calls) => ({ type: 'forecast', calls }) as const),
  },
]

const rare: { weight: number; arbitrary: fc.Arbitrary<Operation> } = {
  weight: 1,
  arbitrary: fc.constant({ type: 'reset' } as const),
}

/** Anything that may be done to a run; beginning it anew is rare, so that runs get somewhere. */
export const randomOperation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 60, arbitrary: fc.oneof(...weighted) },
  rare,
)

/** What is done to a run, in order. */
export const randomOperations: fc.Arbitrary<readonly Operation[]> = fc.array(randomOperation, {
  minLength: 1,
  maxLength: 30,
  size: 'max',
})
