import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { systemRoutes } from '../api/system-routes.ts'
import { localTenant } from '../directory/open-directory.ts'
import type { Platform } from '../platform/platform.ts'
import { storeFile } from '../source/store-place.ts'
import { Answer, type HandlersOf } from './handler.ts'
import { openApi } from './open-api.ts'
import { assertMay } from './permit.ts'
import { RequestError } from './problem.ts'

/** Answers about the process itself. */
export function systemHandlers(
  platform: Platform,
  followers: () => number,
): HandlersOf<keyof typeof systemRoutes> {
  const { metrics, models, version } = platform
  const description = openApi(version)
  return {
    health: () => ({ ok: true }),
    ready: () => {
      const ready = platform.isReady()
      return new Answer({ ready }, { status: ready ? 200 : 503 })
    },
    metrics: async ({ principal, reply }) => {
      // They are figures of the whole process, which belongs to the first tenant.
      assertMay(principal, 'analytics:read', null)
      if (principal.tenant !== localTenant)
        throw new RequestError('forbidden', `Figures of the process are for the tenant ${localTenant}.`)
      reply.type('text/plain; version=0.0.4; charset=utf-8')
      return metrics.render({
        approvalsWaiting: await countWaiting(platform),
        storeBytes: sizeOf(platform.settings.home),
        followers: followers(),
        runsInHand: await countInHand(platform),
        deliveries: platform.outbox.counts(),
      })
    },
    listModels: () => ({ current: models.current, prices: [...models.prices] }),
    describe: () => description as never,
  }
}

const mostPages = 50

async function countWaiting({ directory, overview }: Platform): Promise<number> {
  let count = 0
  for (const { id } of directory.tenants.all()) {
    let cursor: number | undefined
    for (let page = 0; page < mostPages; page++) {
      const { items, next } = await overview.approvals(
        { tenant: id, projects: null },
        { state: 'waiting', limit: 200, ...(cursor === undefined ? {} : { cursor }) },
      )
      count += items.length
      if (next === null) break
      cursor = next
    }
  }
  return count
}

async function countInHand({ directory, engineOf }: Platform): Promise<number> {
  let count = 0
  for (const { id } of directory.tenants.all()) count += (await (await engineOf(id)).runs()).length
  return count
}

/** With what was written last, which lies beside the store. */
function sizeOf(home: string): number {
  const files = [storeFile, `${storeFile}-wal`].map((name) => join(home, name))
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}
