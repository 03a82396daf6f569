import type { JsonObject } from '../shared/json.ts'
import type { PolicyDecision, PolicyVerdict } from './decision.ts'
import type { PolicyFacts, PolicyRequest } from './policy-request.ts'

/** What of a request and its facts the record of the run says already, or could not hold. */
type KnownFacts = Pick<PolicyFacts, 'now' | 'inputs' | 'past'>
type KnownRequest = Pick<PolicyRequest, 'tool' | 'args'>

/** A decision as it is recorded: with all it was made from that the run does not say, and without what is nothing. */
export interface DecisionRecord {
  readonly decision: PolicyDecision
  readonly request: Omit<PolicyRequest, keyof KnownRequest>
  readonly facts: Omit<PolicyFacts, keyof KnownFacts>
  /** The time it was made at, where the clock had gone back. */
  readonly now: number | null
  /** Whether the call was only shown, and so waited for nobody. */
  readonly shown: boolean
}

const nothing: Readonly<Record<string, unknown>> = {
  mode: 'execute',
  context: {},
  counters: {},
  spent: null,
  breakGlass: null,
}

/** The decision as data for the record. */
export function writeDecision({ decision, request, facts, now, shown }: DecisionRecord): JsonObject {
  // In the order that canonical JSON has, which is then written without another look.
  const record: Record<string, unknown> = { decision, facts: writeFacts(facts) }
  if (now !== null) record['now'] = now
  record['request'] = writeRequest(request)
  if (shown) record['shown'] = shown
  return record as JsonObject
}

function writeFacts(facts: DecisionRecord['facts']): object {
  const given: Record<string, unknown> = {}
  for (const name of factNames) if (!isNothing(name, facts[name])) given[name] = facts[name]
  return given
}

const factNames = [
  'breakGlass',
  'context',
  'counters',
  'mode',
  'principal',
  'spent',
] as const satisfies readonly (keyof DecisionRecord['facts'])[]

function writeRequest({ step, risk, target, undoes, unknown }: DecisionRecord['request']): object {
  const told: Record<string, unknown> = {}
  if (risk != null) told['risk'] = risk
  if (step !== null) told['step'] = step
  if (target !== null) told['target'] = target
  if (undoes === true) told['undoes'] = undoes
  if (unknown !== undefined) told['unknown'] = unknown
  return told
}

/** The decision of a record, also of one that holds more. Throws a TypeError for what is none. */
export function readDecision(record: JsonObject): DecisionRecord {
  const { decision, request, facts, now, shown } = record as unknown as Partial<DecisionRecord>
  if (!isObject(decision) || !isObject(request) || !isObject(facts))
    throw new TypeError('this is no decision of policies')
  const { step = null, risk = null, target = null, undoes, unknown } = request as Partial<PolicyRequest>
  const { now: earlier, ...others } = facts as Partial<PolicyFacts>
  return {
    decision: decision as PolicyDecision,
    request: {
      step,
      risk,
      target,
      ...(undoes === undefined ? {} : { undoes }),
      ...(unknown === undefined ? {} : { unknown }),
    },
    facts: { ...nothing, ...others } as unknown as DecisionRecord['facts'],
    now: now ?? earlier ?? null,
    shown: shown === true,
  }
}

/** What of a decision enters the run machine. A call that is only shown waits for nobody, nor for what nobody knows yet. */
export function factOf(
  { decision, shown }: Pick<DecisionRecord, 'decision' | 'shown'>,
  record: JsonObject,
): {
  readonly verdict: PolicyVerdict
  readonly code: string
  readonly reason: string
  readonly demands: readonly JsonObject[]
  readonly expiresAfterSeconds: number
  readonly record: JsonObject
} {
  const { verdict, code, reason, approval } = decision
  return {
    verdict: shown && (verdict === 'needs_approval' || code === 'policy_undecided') ? 'allow' : verdict,
    code,
    reason,
    demands: approval as readonly JsonObject[],
    expiresAfterSeconds: Math.min(...approval.map((demand) => demand.expiresAfterSeconds)),
    record,
  }
}

function isNothing(name: string, value: unknown): boolean {
  if (!Object.hasOwn(nothing, name)) return false
  return isObject(value) ? isEmpty(value) : value === nothing[name]
}

function isEmpty(value: object): boolean {
  for (const name in value) if (Object.hasOwn(value, name)) return false
  return true
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
