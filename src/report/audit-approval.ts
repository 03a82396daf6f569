import type { ApprovalVote } from '../run/approval.ts'
import { approvalId } from '../run/approval-id.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import type { AuditRun } from './audit-run.ts'

/** A call that waited for approval, and everything people said to it. */
export interface AuditApproval {
  readonly id: string
  readonly run: string
  readonly callId: string
  readonly tool: string
  readonly args: JsonObject
  readonly step: string
  readonly rule: string
  readonly policy: string
  readonly why: string
  readonly askedAt: number
  readonly askedBy: string
  readonly votes: readonly ApprovalVote[]
  /** `granted`, `denied`, `expired` or `waiting`. */
  readonly state: string
}

/** The approvals of a run in the order in which they were asked for. */
export function auditApprovals({ run, entries }: AuditRun): readonly AuditApproval[] {
  const held = new Map<string, AuditApproval & { votes: ApprovalVote[]; state: string }>()
  for (const { type, at, principal, data } of entries) {
    const callId = String(data['callId'])
    if (type === 'tool.held') {
      const { rule, policy, reason } = decisionOf(data)
      held.set(callId, {
        id: approvalId(run, callId),
        run,
        callId,
        tool: String(data['tool']),
        args: isJsonObject(data['args']) ? data['args'] : {},
        step: typeof data['step'] === 'string' ? data['step'] : '',
        rule: String(rule ?? ''),
        policy: isJsonObject(policy) ? `${String(policy['id'])}@${String(policy['version'])}` : '',
        why: String(reason ?? ''),
        askedAt: at,
        askedBy: principal,
        votes: [],
        state: 'waiting',
      })
    }
    const approval = held.get(callId)
    if (approval === undefined) continue
    if (type === 'approval.voted') {
      if (isJsonObject(data['vote'])) approval.votes.push(data['vote'] as unknown as ApprovalVote)
      approval.state = String(data['comesTo'])
    }
    if (type === 'approval.expired') approval.state = 'expired'
  }
  return [...held.values()]
}

/** What policies decided about a call; empty where none were asked. */
export function decisionOf(data: JsonObject): JsonObject {
  const policy = data['policy']
  const decision = isJsonObject(policy) ? policy['decision'] : undefined
  return isJsonObject(decision) ? decision : {}
}
