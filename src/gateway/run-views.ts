import type { z } from 'zod'
import type { approvalCard } from '../api/run-shapes.ts'
import { projectsWith } from '../directory/authorise.ts'
import type { Permission } from '../api/permission.ts'
import type { Principal } from '../directory/principal.ts'
import type { ViewScope } from '../overview/list-runs.ts'
import { sendTime } from '../overview/send-entry.ts'
import type { ApprovalCard } from '../overview/view-rows.ts'
import { RequestError } from './problem.ts'

/** An approval as it is sent. */
export function showApproval(card: ApprovalCard): z.input<typeof approvalCard> {
  const { id, run, project, playbook, tool, step, state, askedBy, reason } = card
  return {
    id,
    run,
    project,
    runbook: playbook ?? 'unknown',
    tool,
    step,
    state,
    askedAt: sendTime(card.askedAt),
    askedBy,
    expiresAt: sendTime(card.expiresAt),
    reason,
  }
}

/** Whose things a list shows: those in the project that was named, else everything that the sender may see. */
export function scopeOf(
  { principal, project }: { readonly principal: Principal; readonly project: string | null },
  permission: Permission,
): ViewScope {
  const { tenant } = principal
  if (project !== null) return { tenant, projects: [project] }
  const where = projectsWith(principal, permission)
  return { tenant, projects: where === 'all' ? null : [...where] }
}

/** The place that a cursor names. Throws `invalid_request` for what is none. */
export function readCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null
  const place = /^[0-9a-z]{1,11}$/.test(cursor) ? Number.parseInt(cursor, 36) : Number.NaN
  if (Number.isSafeInteger(place)) return place
  throw new RequestError('invalid_request', 'query.cursor: is no cursor of this list.', {
    hint: 'Begin again without a cursor.',
  })
}

/** A place in a list as a cursor. */
export function writeCursor(place: number | null): string | null {
  return place === null ? null : place.toString(36)
}

/** A time of a query, in epoch milliseconds. */
export function readTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}
