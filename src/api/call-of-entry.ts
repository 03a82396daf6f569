import type { z } from 'zod'
import { approvalIdOf, isoOf, objectOf, textOf } from './entry-values.ts'
import type { RunEntry, RunPage } from './run-fold.ts'
import type { call } from './run-shapes.ts'

type Call = z.infer<typeof call>

/** The call that an entry tells of; `before` is what is known of it already, or of its proposal. */
export function callOf(
  { data, at }: RunEntry,
  state: Call['state'],
  code: string | null,
  before: Pick<Call, 'byModel' | 'at' | 'seq' | 'approval'>,
): Call {
  const decision = objectOf(objectOf(data['policy'])?.['decision'])
  const policy = objectOf(decision?.['policy'])
  return {
    id: textOf(data['callId']),
    tool: textOf(data['tool']) ?? '',
    args: objectOf(data['args']) as Call['args'],
    byModel: before.byModel,
    step: textOf(data['step']),
    state,
    code,
    rule: textOf(decision?.['rule']),
    policy: policy === null ? null : `${textOf(policy['id'])}@${textOf(policy['version'])}`,
    reason: textOf(data['message']) ?? textOf(decision?.['reason']),
    at: before.at,
    settledAt: state === 'denied' ? at : null,
    result: null,
    error: null,
    undoes: textOf(data['undoes']),
    approval: before.approval,
    seq: before.seq,
  }
}

/** The approval that the entry of a held call asks for. */
export function askedBy(
  { data, at, by }: RunEntry,
  { tool, step }: Pick<Call, 'tool' | 'step'>,
  run: Pick<RunPage, 'id' | 'project'> & { readonly name: string },
): RunPage['approvals'][number] {
  const decision = objectOf(objectOf(data['policy'])?.['decision'])
  return {
    id: approvalIdOf(run.id, textOf(data['callId']) ?? ''),
    run: run.id,
    project: run.project,
    runbook: run.name,
    tool,
    step,
    state: 'waiting',
    askedAt: at,
    askedBy: by,
    expiresAt: isoOf(data['expiresAt']) ?? at,
    reason: textOf(decision?.['reason']) ?? '',
    votes: [],
  }
}
