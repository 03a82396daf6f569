import { mkdtempSync, rmSync } from 'node:fs'
import { createReadStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { auditRoutes } from '../api/record-routes.ts'
import { tenantChain, type SealedEntry } from '../journal/chain.ts'
import type { PartQuery } from '../journal/chain-part.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import { exportChains } from '../journal/export-chains.ts'
import { sendTime } from '../overview/send-entry.ts'
import { reports } from '../report/reports.ts'
import { redactObject } from '../shared/redact.ts'
import { Answer, type HandlersOf } from './handler.ts'
import { assertMay } from './permit.ts'
import { RequestError } from './problem.ts'
import type { RunSetup } from './run-setup.ts'
import { readCursor, readTime, writeCursor } from './run-views.ts'
import { fileName } from './run-routes.ts'
import { SparedWork } from './spared-work.ts'
import { verifyTenant } from './verify-tenant.ts'

/** How many entries one request looks through for a word. */
const mostLooked = 5000
/** How many runs an archive holds at most; larger ones are made by the command line, which nobody waits for. */
const mostExported = 1000

/** Answers about the record of the tenant, which takes a role in the whole tenant. */
export function auditHandlers({
  platform,
}: Pick<RunSetup, 'platform'>): HandlersOf<keyof typeof auditRoutes> {
  const { store } = platform
  const verified = new SparedWork<Awaited<ReturnType<typeof verifyTenant>>>()
  return {
    listAudit: async ({ principal, query }) => {
      assertMay(principal, 'audit:read', null)
      const { cursor, limit, search, type, by } = query
      const [from, to] = [readTime(query.from), readTime(query.to)]
      const { entries, next } = await findEntries(
        store,
        tenantChain(principal.tenant),
        { before: readCursor(cursor), type, by, from, to, most: limit },
        search ?? '',
      )
      return { items: entries.map(showEntry), next: writeCursor(next) }
    },
    verifyAudit: async ({ principal, query }) => {
      assertMay(principal, 'audit:read', null)
      const { tenant } = principal
      const verify = () => verifyTenant(store, tenant, query.runs, platform.now())
      return await verified.of(`${query.runs} ${tenant}`, verify)
    },
    listCheckpoints: async ({ principal, query }) => {
      assertMay(principal, 'audit:read', null)
      const chain = tenantChain(principal.tenant)
      const part = await store.checkpointPart(chain, readCursor(query.cursor), query.limit)
      return { items: part.checkpoints.map((each) => ({ ...each }) as never), next: writeCursor(part.next) }
    },
    exportAudit: async ({ principal, query }) => {
      assertMay(principal, 'audit:read', null)
      const from = readTime(query.from) ?? 0
      const to = readTime(query.to) ?? platform.now() + 1
      return await writeArchive(store, principal.tenant, { from, to })
    },
  }
}

function showEntry({ link, hash, payload }: SealedEntry) {
  return {
    seq: link.seq,
    at: sendTime(link.at),
    by: link.principal,
    type: link.type,
    data: payload === null ? null : (redactObject(payload.data) as never),
    hash,
  }
}

/** The entries in which the words stand; a page may be short where words are looked for, and there may be more behind it. */
async function findEntries(
  store: ChainStore,
  chain: string,
  query: PartQuery,
  search: string,
): Promise<{ readonly entries: readonly SealedEntry[]; readonly next: number | null }> {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return await store.part(chain, query)
  const found: SealedEntry[] = []
  let before = query.before ?? null
  for (let looked = 0; looked < mostLooked;) {
    const { entries, next } = await store.part(chain, { ...query, before, most: 500 })
    for (const entry of entries) {
      if (!holds(entry, words)) continue
      if (found.length === query.most) return { entries: found, next: found.at(-1)!.link.seq }
      found.push(entry)
    }
    if (next === null) return { entries: found, next: null }
    looked += entries.length
    before = next
  }
  return { entries: found, next: before }
}

/** What is shown is looked through, so that nobody finds a secret by guessing at it. */
function holds(entry: SealedEntry, words: readonly string[]): boolean {
  const { type, by, data } = showEntry(entry)
  const text = `${type} ${by} ${JSON.stringify(data)}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

async function writeArchive(
  store: ChainStore,
  tenant: string,
  period: { readonly from: number; readonly to: number },
): Promise<Answer<NodeJS.ReadableStream>> {
  const opened = await store.part(tenantChain(tenant), {
    type: 'run.opened',
    ...period,
    most: mostExported + 1,
  })
  if (opened.entries.length > mostExported)
    throw new RequestError('too_large', `There are more than ${mostExported} runs in that time.`, {
      hint: 'Ask for a shorter time, or make the archive on the server: lockstep export --from DAY --to DAY -o FILE.zip',
    })
  const runs = opened.entries
    .toReversed()
    .flatMap(({ payload }) => (typeof payload?.data['run'] === 'string' ? [payload.data['run']] : []))
  const lines = await exportChains(store, runs, { tenants: [tenant], period, redact: redactObject })
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-audit-'))
  const path = join(folder, 'audit.zip')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    reports.writeArchive(path, lines)
  } catch (error) {
    remove()
    throw error
  }
  const name = fileName(
    `lockstep-${tenant}-${period.from === 0 ? 'all' : sendTime(period.from).slice(0, 10)}`,
  )
  return new Answer(createReadStream(path).once('close', remove), {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${name}.zip"`,
    },
  })
}
