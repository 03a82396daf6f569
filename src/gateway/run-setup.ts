import type { Permission } from '../api/permission.ts'
import type { ApprovalCard } from '../overview/view-rows.ts'
import type { RunCard } from '../overview/run-card.ts'
import type { Principal } from '../directory/principal.ts'
import type { Platform } from '../platform/platform.ts'
import type { Door } from './door.ts'
import { assertMay, visible } from './permit.ts'
import { RequestError } from './problem.ts'
import { RunPages } from './run-pages.ts'
import { RunStreams } from './run-stream.ts'

/** What of a platform the routes about runs stand on. */
export type RunPlatform = Pick<
  Platform,
  'store' | 'overview' | 'directory' | 'texts' | 'tools' | 'desk' | 'now' | 'engineOf'
>

/** What the routes about runs share. */
export interface RunSetup {
  readonly platform: RunPlatform
  readonly pages: RunPages
  readonly streams: RunStreams
  /** Looks again who sends a request that goes on for long. */
  readonly door: Pick<Door, 'identify'>
}

/** Makes what the routes about runs share. */
export function runSetup(
  platform: RunPlatform,
  door: Pick<Door, 'identify'>,
  times: { readonly beatMs?: number; readonly patienceMs?: number } = {},
): RunSetup {
  const { store } = platform
  const streams = new RunStreams({ engineOf: (tenant) => platform.engineOf(tenant), ...times })
  return { platform, pages: new RunPages(store), streams, door }
}

type Sender = { readonly principal: Principal; readonly project: string | null }

/** The card of a run that the sender may read, and to which they may do something. Throws `not_found` or `forbidden`. */
export async function findRun(
  { platform: { overview } }: RunSetup,
  asked: Sender & { readonly params: { readonly id: string } },
  permission: Permission = 'run:read',
): Promise<RunCard> {
  const card = visible(asked, 'run:read', await overview.run(asked.principal.tenant, asked.params.id))
  if (permission !== 'run:read') assertMay(asked.principal, permission, card.project)
  return card
}

/** The approval that the sender may read. Throws `not_found`, and `not_available` where two wait under one id. */
export async function findApproval(
  { platform: { overview } }: RunSetup,
  asked: Sender & { readonly params: { readonly id: string } },
): Promise<ApprovalCard> {
  const found = await overview.approval(asked.principal.tenant, asked.params.id)
  const [first, second] = found.map((each) => visibleOrNull(asked, each)).filter((each) => each !== null)
  if (second !== undefined && second.state === 'waiting')
    throw new RequestError('not_available', `Two approvals that wait have the id ${asked.params.id}.`, {
      hint: `Decide them where the runs are: lockstep approvals (runs ${first!.run} and ${second.run}).`,
    })
  return visible(asked, 'approval:read', first)
}

function visibleOrNull(asked: Sender, card: ApprovalCard): ApprovalCard | null {
  try {
    return visible(asked, 'approval:read', card)
  } catch {
    return null
  }
}
