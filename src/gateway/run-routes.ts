import type { FastifyRequest } from 'fastify'
import type { RunPage } from '../api/run-fold.ts'
import type { runRoutes } from '../api/run-routes.ts'
import type { Principal } from '../directory/principal.ts'
import type { HeldUp } from '../engine/engine.ts'
import { exportChains } from '../journal/export-chains.ts'
import type { RunCard } from '../overview/run-card.ts'
import { sendCard } from '../overview/send-card.ts'
import { starterOf } from '../platform/starter.ts'
import { reports } from '../report/reports.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import { Answer, WrittenJson, type HandlersOf } from './handler.ts'
import { header } from './bind-routes.ts'
import { assertMay, sees, visible } from './permit.ts'
import { assertWritable, RequestError } from './problem.ts'
import { findRun, type RunSetup } from './run-setup.ts'
import { readCursor, readTime, scopeOf, writeCursor } from './run-views.ts'
import { verifyRun } from './verify-run.ts'

/** How many streams one sender may keep open. */
const mostStreams = 2000
/** How many entries are read before the one that was named, for who comes from a little further back. */
const headStart = 500

/** Answers about runs, and acts on them. */
export function runHandlers(setup: RunSetup): HandlersOf<keyof typeof runRoutes> {
  const { platform } = setup
  return {
    listRuns: async (asked) => {
      const { cursor, from, to, ...filter } = asked.query
      const { items, next } = await platform.overview.sentRuns(scopeOf(asked, 'run:read'), {
        ...filter,
        from: readTime(from),
        to: readTime(to),
        after: readCursor(cursor),
      })
      return new WrittenJson(`{"items":[${items.join(',')}],"next":${JSON.stringify(writeCursor(next))}}`)
    },
    getRun: async (asked) => {
      const card = await findRun(setup, asked)
      assertReadable(card)
      // Most runs that are looked at have ended, and are what they are.
      if (card.endedAt !== null) return new WrittenJson(await setup.pages.sent(card))
      const page = await setup.pages.page(card)
      return { ...page, waitsFor: [...page.waitsFor, ...(await holdUpOf(setup, card, page))] }
    },
    ...beginning(setup),
    ...following(setup),
    ...orders(setup),
    ...records(setup),
  }
}

function beginning({ platform }: RunSetup): HandlersOf<'startRun'> {
  return {
    startRun: async (asked) => {
      const { principal, project, body } = asked
      const { tenant } = principal
      assertWritable('body.context', body.context)
      assertWritable('body.prompt', body.prompt ?? null)
      const found = await platform.texts.findRunbook(tenant, body.runbook, project)
      const runbook = visible(asked, 'runbook:read', found)
      assertMay(principal, 'run:start', runbook.project)
      if (runbook.archived)
        throw new RequestError('not_available', `${runbook.name} is archived.`, {
          hint: 'Take it out of the archive first, or start another one.',
        })
      const version = body.version ?? runbook.versions.at(-1)!.version
      const run = await platform.desk.begin({
        tenant,
        project: runbook.project,
        by: starterOf(principal, runbook.project),
        playbook: await platform.texts.open(tenant, runbook, version),
        runbook: { id: runbook.id, name: runbook.name, version },
        mode: body.mode,
        inputs: body.inputs,
        context: body.context,
        model: body.model ?? null,
        prompt: body.prompt ?? null,
      })
      const card = await platform.overview.run(tenant, run)
      return new Answer(sendCard(card!), { headers: { location: `/runs/${run}` } })
    },
  }
}

function following(setup: RunSetup): HandlersOf<'followRun'> {
  const { streams, door } = setup
  const open = new Map<string, number>()
  return {
    followRun: async (asked) => {
      const { principal, reply, request, query } = asked
      const card = await findRun(setup, asked)
      assertReadable(card)
      const { id } = principal.subject
      const count = open.get(id) ?? 0
      if (count >= mostStreams)
        throw new RequestError('rate_limited', `There are ${count} open streams of yours already.`, {
          headers: { 'retry-after': '10' },
        })
      open.set(id, count + 1)
      reply.hijack()
      const out = reply.raw
      out.once('close', () => {
        const left = open.get(id)! - 1
        if (left === 0) open.delete(id)
        else open.set(id, left)
      })
      out.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      })
      out.flushHeaders()
      const after = query.after ?? lastSeen(request)
      // The entry that ends a run may lie before the one that was named; and who comes back together does so from about the same place.
      const from = card.endedAt === null ? Math.max(0, Math.min(after, card.entries) - headStart) : 0
      streams.follow({ tenant: principal.tenant, run: card.run, after, from }, out, async () => {
        const now = await door.identify(request)
        return (
          now !== null &&
          isStill(principal, now) &&
          sees({ ...asked, principal: now }, 'run:read')(card.project)
        )
      })
      return undefined
    },
  }
}

function isStill(before: Principal, now: Principal): boolean {
  return now.subject.id === before.subject.id && now.tenant === before.tenant
}

function lastSeen(request: FastifyRequest): number {
  const said = header(request, 'last-event-id') ?? ''
  return /^\d{1,9}$/.test(said) ? Number(said) : 0
}

function orders(
  setup: RunSetup,
): HandlersOf<'cancelRun' | 'pauseRun' | 'resumeRun' | 'settleCall' | 'answerRun'> {
  const { platform } = setup
  const current = async ({ tenant, run }: RunCard) => sendCard((await platform.overview.run(tenant, run))!)
  const order =
    (type: 'cancel' | 'pause') =>
    async (
      asked: Parameters<typeof findRun>[1] & { readonly body: { readonly reason?: string | undefined } },
    ) => {
      const card = await findRun(setup, asked, 'run:control')
      assertOpen(card)
      const engine = await platform.engineOf(card.tenant)
      const by = asked.principal.actor
      await engine.order(card.run, { type, by, reason: asked.body.reason ?? null })
      return await current(card)
    }
  return {
    cancelRun: order('cancel'),
    pauseRun: order('pause'),
    resumeRun: async (asked) => {
      const card = await findRun(setup, asked, 'run:control')
      assertOpen(card)
      const engine = await platform.engineOf(card.tenant)
      const by = asked.principal.actor
      await engine.order(card.run, { type: 'unpause', by, reason: asked.body.reason ?? null })
      // Whoever waits for approval is told of a vote, and needs nobody to take the run up.
      if (card.waiting === 0) await takeUp(engine, card.run)
      return await current(card)
    },
    settleCall: async (asked) => {
      const card = await findRun(setup, asked, 'run:control')
      assertOpen(card)
      const { outcome, result, reason } = asked.body
      assertWritable('body.result', result ?? null)
      assertWritable('body.reason', reason)
      const engine = await platform.engineOf(card.tenant)
      const callId = asked.params.call
      const by = asked.principal.actor
      const said = { outcome, reason, ...(result === undefined ? {} : { result }) }
      if (!(await engine.order(card.run, { type: 'settle', callId, by, ...said })))
        throw new RequestError(
          'not_available',
          `No call '${callId}' of run ${card.run} waits for somebody to say what became of it.`,
          { hint: `The calls of state unknown do: GET /runs/${card.run}` },
        )
      const now = (await platform.overview.run(card.tenant, card.run))!
      // A run that was in hand goes on by itself.
      if (now.endedAt === null && engine.standing(card.run) === null) await takeUp(engine, card.run)
      return await current(card)
    },
    answerRun: async (asked) => {
      const card = await findRun(setup, asked, 'run:start')
      assertOpen(card)
      await platform.desk.say(card.tenant, card.run, asked.body.text)
      return await current(card)
    },
  }
}

/** Has somebody sit down to a run. Only what keeps that from happening is waited for, not the work. */
async function takeUp(
  engine: {
    resume(run: string): Promise<unknown>
    standing(run: string): { readonly atWork: boolean } | null
  },
  run: string,
): Promise<void> {
  if (engine.standing(run)?.atWork === true) return
  const rested = engine.resume(run)
  rested.catch(() => undefined)
  for (let tries = 0; tries < 50 && engine.standing(run)?.atWork !== true; tries++)
    await Promise.race([rested, new Promise((resolve) => setTimeout(resolve, 10))])
}

function records(setup: RunSetup): HandlersOf<'exportRun' | 'verifyRun'> {
  const { store } = setup.platform
  return {
    exportRun: async (asked) => {
      const { run } = await findRun(setup, asked)
      const { whole } = asked.query
      // With everything in it, it is for who could read the store.
      if (whole) assertMay(asked.principal, 'tenant:write', null)
      const lines = await exportChains(store, [run], whole ? {} : { redact: redactObject })
      if (asked.query.format === 'html')
        return new Answer(reports.writePage(lines), {
          headers: {
            'content-type': 'text/html; charset=utf-8',
            'content-disposition': `attachment; filename="${fileName(run)}.html"`,
            'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          },
        })
      return new Answer(lines.map((line) => `${line}\n`).join(''), {
        headers: {
          'content-type': 'application/x-ndjson; charset=utf-8',
          'content-disposition': `attachment; filename="${fileName(run)}.jsonl"`,
        },
      })
    },
    verifyRun: async (asked) => await verifyRun(store, (await findRun(setup, asked)).run),
  }
}

/** A name that a header can hold, whatever the run is called. */
export function fileName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 100)
}

function assertReadable({ run, status }: RunCard): void {
  if (status !== 'unreadable') return
  throw new LockstepError('not_available', `The record of run ${run} was erased, or cannot be trusted.`, {
    hint: `GET /runs/${run}/verify says which.`,
  })
}

function assertOpen({ run, status, endedAt }: RunCard): void {
  if (endedAt === null && status !== 'unreadable') return
  throw new RequestError('not_available', `Run ${run} has ended: ${status}.`)
}

/** What keeps a run from going on that its record does not say. */
async function holdUpOf(
  { platform }: RunSetup,
  { tenant, run, status }: RunCard,
  page: RunPage,
): Promise<RunPage['waitsFor']> {
  const engine = await platform.engineOf(tenant)
  const standing = engine.standing(run)
  const held = standing === null ? null : await engine.heldUp(run)
  const halt = standing === null ? await platform.store.halted(tenant) : null
  if (halt !== null) return [{ kind: 'halt', text: `halted by ${halt.by}: ${redactText(halt.reason)}` }]
  if (held !== null) return [describeHeldUp(held)]
  if (status !== 'running' || standing?.atWork === true || page.waitsFor.length > 0) return []
  return [{ kind: 'resume', text: redactText(standing?.reason ?? 'this server is not at work on it') }]
}

function describeHeldUp(held: HeldUp): RunPage['waitsFor'][number] {
  return held.kind === 'halt'
    ? { kind: 'halt', text: `halted by ${redactText(held.by)}` }
    : { kind: 'target', text: `run ${held.run} acts on ${redactText(held.target)}` }
}
