import { auditApprovals, type AuditApproval } from './audit-approval.ts'
import type { AuditException } from './audit-exception.ts'
import type { AuditRun } from './audit-run.ts'
import { writeCsv, writeTime, type Cell } from './csv.ts'

/** One line for each run. */
export function writeRuns(runs: readonly AuditRun[], exceptions: readonly AuditException[]): string {
  const count = new Map<string, number>()
  for (const { run } of exceptions) count.set(run, (count.get(run) ?? 0) + 1)
  return writeCsv(
    [
      'run',
      'tenant',
      'playbook',
      'playbook_digest',
      'begun_by',
      'begun_at',
      'ended_at',
      'status',
      'enforced',
      'mode',
      'calls',
      'denials',
      'approvals',
      'exceptions',
      'entries',
      'last_hash',
    ],
    runs.map((run): Cell[] => [
      run.run,
      run.tenant,
      run.playbook,
      run.digest,
      run.principal,
      writeTime(run.openedAt),
      writeTime(run.closedAt),
      run.status,
      run.enforced ? 'enforced' : 'observed only',
      run.dryRun ? 'dry-run' : 'execute',
      run.entries.filter(({ type }) => type === 'tool.admitted').length,
      run.entries.filter(({ type }) => type === 'tool.denied').length,
      auditApprovals(run).length,
      count.get(run.run) ?? 0,
      run.entries.length,
      run.head,
    ]),
  )
}

/** One line for each thing somebody said to an approval; one for an approval to which nobody said anything. */
export function writeApprovals(runs: readonly AuditRun[]): string {
  return writeCsv(
    [
      'approval',
      'run',
      'tool',
      'arguments',
      'step',
      'rule',
      'policy',
      'asked_by',
      'asked_at',
      'person',
      'identified_by',
      'roles',
      'answer',
      'reason',
      'answered_at',
      'waited_seconds',
      'came_to',
    ],
    runs.flatMap(auditApprovals).flatMap(approvalRows),
  )
}

function approvalRows(approval: AuditApproval): Cell[][] {
  const { id, run, tool, args, step, rule, policy, askedBy, askedAt, votes, state } = approval
  const asked = [id, run, tool, JSON.stringify(args), step, rule, policy, askedBy, writeTime(askedAt)]
  if (votes.length === 0) return [[...asked, '', '', '', '', '', '', null, state]]
  return votes.map(({ person, identity, roles, answer, reason, at }) => [
    ...asked,
    person,
    identity,
    Array.isArray(roles) ? roles.join(' ') : '',
    answer,
    reason,
    writeTime(at),
    Math.round((at - askedAt) / 1000),
    state,
  ])
}

/** One line for each thing out of the ordinary, broken glass first. */
export function writeExceptions(exceptions: readonly AuditException[]): string {
  return writeCsv(
    ['kind', 'run', 'entry', 'at', 'who', 'tool', 'step', 'what'],
    exceptions.map(({ kind, run, seq, at, who, tool, step, what }) => [
      kind,
      run,
      seq,
      writeTime(at),
      who,
      tool,
      step,
      what,
    ]),
  )
}
