import { z } from 'zod'
import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import type { StepPhase } from '../run/activation.ts'
import { denialCodes } from '../run/denial-code.ts'
import { runEnds } from '../run/event.ts'
import { semantics, type RunState } from '../run/state.ts'
import { readState, writeState, type RunStateJson } from '../run/state-json.ts'
import { StepStatus } from '../run/step-status.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { isJsonObject, type Json } from '../shared/json.ts'
import { toJson } from '../shared/to-json.ts'
import { checkInputs } from './check-inputs.ts'

/** A run put down as JSON, to be taken up later or elsewhere. It is not signed: keep it where only you can write. */
export interface EnforcerSnapshot {
  readonly format: 'lockstep.snapshot'
  readonly version: 1
  readonly playbook: { readonly id: string; readonly version: string }
  readonly recordViolations: boolean
  readonly state: RunStateJson
}

const time = z.number().min(0)
const code = z.enum(denialCodes)
const mover = z.enum(['evidence', 'model', 'host', 'limit', 'condition', 'passed_over', 'finish', 'runtime'])
const count = z.int().min(0)
const json = z.unknown().transform((value, context): Json => {
  const reading = toJson(value)
  if (reading.problem === null) return reading.value
  context.addIssue({ code: 'custom', message: reading.problem })
  return z.NEVER
})
const jsonObject = json.refine((value) => isJsonObject(value), 'must be an object')
const activation = z.strictObject({
  step: z.string(),
  visit: z.int().min(1),
  status: z.enum(StepStatus),
  phase: z.enum(['waiting', 'open', 'lingering', 'closed', 'undecided', 'escalated']),
  startedAt: time.nullable(),
  completedAt: time.nullable(),
  activeMs: time,
  activeSince: time.nullable(),
  by: mover.nullable(),
  result: z.string().nullable(),
  error: z.string().nullable(),
  outOfOrder: z.boolean(),
  reopened: z.boolean(),
  items: z.union([z.array(json), z.literal('unknown')]).optional(),
  failure: z.string().optional(),
})
/** What the status of a step can be in each phase of its current visit. */
const statusesIn: Readonly<Record<StepPhase, readonly StepStatus[]>> = {
  waiting: ['pending', 'in_progress'],
  open: ['pending', 'in_progress'],
  lingering: ['completed'],
  closed: ['completed', 'skipped', 'failed'],
  undecided: ['pending', 'in_progress'],
  escalated: ['pending', 'in_progress'],
}
const currentActivation = activation.refine(
  ({ phase, status }) => statusesIn[phase].includes(status),
  'a step cannot have this status in this phase',
)
const approval = z.strictObject({
  askedAt: time,
  expiresAt: time,
  demands: z.array(jsonObject),
  votes: z.array(
    z.strictObject({
      person: z.string(),
      identity: z.string(),
      roles: z.array(z.string()),
      at: time,
      answer: z.enum(['approve', 'deny']),
      reason: z.string().nullable(),
    }),
  ),
  state: z.enum(['waiting', 'granted', 'denied', 'expired']),
})
const ticket = z
  .strictObject({
    callId: z.string(),
    tool: z.string(),
    args: jsonObject.nullable(),
    target: z.string().nullable().default(null),
    step: z.string().nullable(),
    visit: z.int().min(1),
    extra: z.boolean(),
    observed: code.nullable(),
    admittedAt: time,
    approval: approval.nullable().default(null),
    state: z.enum(['held', 'admitted', 'executing', 'succeeded', 'failed', 'unknown', 'not_executed']),
    settledAt: time.nullable(),
    settlement: z.int().min(1).nullable(),
    result: json.optional(),
    error: z.string().nullable(),
    undoes: z.string().optional(),
    reads: z.literal(true).optional(),
    undo: z
      .union([z.strictObject({ tool: z.string(), args: jsonObject }), z.strictObject({ error: z.string() })])
      .optional(),
    shown: z.literal(true).optional(),
    confirms: z.boolean().optional(),
  })
  .refine(
    (each) => each.state !== 'held' || each.approval !== null,
    'a held ticket has the approval it waits for',
  )
  .refine(
    (each) => (each.settlement === null) === ['held', 'admitted', 'executing'].includes(each.state),
    'a settled ticket has its place among the settlements, an open one has none',
  )
const stoppage = z.strictObject({ by: z.string(), reason: z.string().nullable() })
const snapshotSchema = z.strictObject({
  format: z.literal('lockstep.snapshot'),
  version: z.literal(1),
  playbook: z.strictObject({ id: z.string(), version: z.string() }),
  recordViolations: z.boolean(),
  state: z.strictObject({
    semantics: z.literal(semantics),
    run: z.string().min(1),
    playbook: z.string(),
    inputs: jsonObject,
    enforced: z.boolean(),
    finishAttempts: count,
    startedAt: time,
    clock: time,
    ended: z.enum(runEnds).nullable(),
    message: z.string().nullable(),
    activations: z.array(currentActivation),
    previous: z.array(activation),
    tickets: z.array(ticket),
    toJudge: z.array(z.string()),
    timed: z.array(z.string()),
    settlements: count,
    totalToolCalls: count,
    unadmittedCalls: count,
    iterations: count,
    finishRefusals: count,
    errors: z.array(z.string()),
    violations: z.array(
      z.strictObject({
        code,
        step: z.string().nullable(),
        tool: z.string(),
        message: z.string(),
        at: time,
        blocked: z.boolean(),
      }),
    ),
    violationsDropped: count,
    mode: z.literal('dry-run').optional(),
    suspension: stoppage.optional(),
    cancellation: stoppage.optional(),
    compensation: z
      .strictObject({
        cause: z.enum(['failed', 'cancelled']),
        reason: z.string(),
        stopped: z.string().nullable(),
        dueAt: time,
        left: z.array(z.string()),
        undone: z.array(z.string()),
      })
      .optional(),
  }),
})

/** Puts a run down. Throws `not_available` for a program, which is taken up from its record. */
export function takeSnapshot(state: RunState, recordViolations: boolean): EnforcerSnapshot {
  if (state.program !== null) {
    throw new LockstepError('not_available', 'A program cannot be put into a snapshot.', {
      hint: 'Keep its journal: a program is taken up from its record.',
    })
  }
  const { id, version } = state.compiled.playbook
  return {
    format: 'lockstep.snapshot',
    version: 1,
    playbook: { id, version },
    recordViolations,
    state: writeState(state),
  }
}

/**
 * Takes a run up again. Throws `invalid_snapshot` for what is no snapshot, and `playbook_mismatch` for a run of another
 * playbook version unless that is asked for.
 */
export function readSnapshot(
  compiled: CompiledPlaybook,
  snapshot: unknown,
  acceptOtherVersion: boolean,
): { readonly state: RunState; readonly recordViolations: boolean } {
  const { success, data, error } = snapshotSchema.safeParse(snapshot)
  if (!success) {
    const [issue] = error.issues
    const place = issue === undefined ? '' : ` at ${issue.path.join('.') || 'the top'}: ${issue.message}`
    throw new LockstepError('invalid_snapshot', `This is not a snapshot of a run${place}.`)
  }
  const { id, version } = compiled.playbook
  if (data.state.playbook !== compiled.digest && (!acceptOtherVersion || data.playbook.id !== id)) {
    throw new LockstepError(
      'playbook_mismatch',
      `The snapshot was taken under ${data.playbook.id} ${data.playbook.version}, which differs from ${id} ${version} as given.`,
      {
        hint: 'Restore with the playbook it was taken under, or pass acceptOtherVersion to carry it over on purpose.',
      },
    )
  }
  // Another version may ask for other inputs: those it does not know are dropped, defaults of new ones filled in.
  const known = Object.entries(data.state.inputs).filter(([name]) =>
    Object.hasOwn(compiled.playbook.inputs, name),
  )
  const inputs = checkInputs(compiled.playbook, Object.fromEntries(known))
  const state = readState(compiled, { ...(data.state as RunStateJson), inputs })
  return { state, recordViolations: data.recordViolations }
}
