/**
 * A process that works on runs until it kills itself, as a power cut or an out-of-memory killer would: nothing is flushed, closed or told. Each run has a
 * moment; one that has come to it stands still until the others have come to theirs, because to start a process for each takes longer than all they do.
 */
import { flushCompileCache } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainStore } from '../../src/journal/chain-store.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { workOn, type Job } from './work-on.ts'

/** When the process dies: before or after the commit of an append, or inside a call, when the service has it and has not answered. */
export type Death = { readonly append: number; readonly side: 'before' | 'after' } | { readonly call: string }

/** A run to work on, and when to die. */
export interface Fate {
  readonly job: Job
  readonly death: Death
}

const fates = JSON.parse(process.argv[2]!) as readonly Fate[]
let awaited = fates.length

/** How long the service takes for a call in which the process dies. */
const delayMs = 150

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal comes when it comes; until then nothing else may.
  for (;;);
}

/** The moment of one run has come: nothing of it goes on, and the last one kills them all. */
async function comeToTheMoment(): Promise<never> {
  if (--awaited === 0) die()
  return await new Promise<never>(() => undefined)
}

function dyingStore(store: ChainStore, death: Death): ChainStore {
  if (!('append' in death)) return store
  let appends = 0
  let isOver = false
  const append: ChainStore['append'] = async (run, facts, options) => {
    if (isOver) return await new Promise<never>(() => undefined)
    const here = ++appends === death.append
    if (here && death.side === 'before') {
      // A slow disk: whatever does not wait for the commit has time to happen.
      await sleep(20)
      isOver = true
      await comeToTheMoment()
    }
    const entries = await store.append(run, facts, options)
    if (here) {
      isOver = true
      await comeToTheMoment()
    }
    return entries
  }
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') return append
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function dyingTool(each: Tool, { job, death }: Fate): Tool {
  if (!('call' in death)) return each
  const key = `${job.run}/${death.call}`
  const execute: Tool['execute'] = async (args, context) => {
    if (context.idempotencyKey !== key || each.risk === 'read') return await each.execute(args, context)
    if (each.name.startsWith('practice.')) await slowDown(job, each.name)
    const answer = Promise.resolve(each.execute(args, context))
    // Where the service was told to refuse it, the next attempt is the one.
    const refusal = new AbortController()
    answer.catch(() => refusal.abort())
    while (!refusal.signal.aborted) if (await isTaken(job, key)) await comeToTheMoment()
    return await answer
  }
  return Object.freeze({ ...each, execute })
}

async function slowDown(job: Job, tool: string): Promise<void> {
  const fault = JSON.stringify({ tool, kind: 'delay', ms: delayMs })
  await fetch(`${job.url}/faults`, { method: 'POST', body: fault })
}

/** Whether the service has begun what is asked of it under a key, or has done it; what has no key is seen when it is done. */
async function isTaken(job: Job, key: string): Promise<boolean> {
  if ((await fetch(`${job.url}/keys/${encodeURIComponent(key)}`)).ok) return true
  const { effects } = (await (await fetch(`${job.url}/effects`)).json()) as { effects: { key: unknown }[] }
  return effects.some((effect) => effect.key === null)
}

// Who is killed keeps nothing for the next one.
flushCompileCache()
await Promise.race(
  fates.map((fate) =>
    workOn(fate.job, {
      store: (store) => dyingStore(store, fate.death),
      tool: (each) => dyingTool(each, fate),
    }),
  ),
)
// One that came to its end missed its moment; the others need not wait.
process.exit(0)
