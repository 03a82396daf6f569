import { replaceEqualDeep, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { RunFold, type RunEntry, type RunPage } from '../../../../src/api/run-fold.ts'
import { ProblemError } from '../../../../src/client/index.ts'
import { ask } from '../../server/ask.ts'
import { readEventStream } from '../../server/event-stream.ts'
import { mergeEntries } from './merge-entries.ts'

/** How the connection stands: `live`, or lost and tried again, or over because nothing more will come. */
export type Liveness = 'connecting' | 'live' | 'lost' | 'over'

const ended = new Set<string>(['succeeded', 'incomplete', 'failed', 'cancelled', 'unreadable'])

/** Whether nothing more will happen in a run. */
export function isOver(status: string): boolean {
  return ended.has(status)
}

/** How often the page is redrawn while much happens. */
const flushEvery = 80

/**
 * A run as it is now: what the gateway said it is, and every entry that was written since. Where an entry is missing, and
 * when the run has ended, the gateway is asked again. A lost connection goes on behind the last entry that arrived.
 */
export function useLiveRun(id: string) {
  const queries = useQueryClient()
  const run = useQuery({
    queryKey: runKey(id),
    queryFn: ({ signal }) => ask('GET /runs/{id}', { params: { id }, signal }),
    staleTime: 0,
    // An answer that was under way while entries arrived is older than what is shown.
    structuralSharing: (before, next) => newer(before as RunPage | undefined, next as RunPage),
  })
  const [entries, setEntries] = useState<readonly RunEntry[]>([])
  const [liveness, setLiveness] = useState<Liveness>('connecting')
  const status = useRef<string | undefined>(undefined)
  status.current = run.data?.status

  useEffect(() => {
    const stop = new AbortController()
    let arrived: RunEntry[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const askAgain = () => void queries.invalidateQueries({ queryKey: runKey(id) })
    const flush = () => {
      timer = undefined
      const fresh = arrived
      arrived = []
      setEntries((before) => mergeEntries(before, fresh))
      if (!applyEntries(queries, id, fresh)) askAgain()
    }
    setEntries([])
    setLiveness('connecting')
    const take = (entry: RunEntry) => {
      arrived.push(entry)
      timer ??= setTimeout(flush, flushEvery)
    }
    const isDone = () => status.current !== undefined && isOver(status.current)
    void follow({ id, take, tell: setLiveness, askAgain, isDone }, stop.signal)
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [id, queries])

  // What arrived before the first answer may go beyond it.
  const last = entries.at(-1)?.seq ?? 0
  const known = run.data?.seq
  useEffect(() => {
    if (known !== undefined && known < last && !run.isFetching) void run.refetch()
    // Asked once for each answer that is behind; entries that come later are applied as they come.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [known])

  return { run, entries, liveness }
}

function runKey(id: string): readonly string[] {
  return ['runs', 'one', id]
}

function newer(before: RunPage | undefined, next: RunPage): RunPage {
  return before !== undefined && before.id === next.id && before.seq > next.seq
    ? before
    : replaceEqualDeep(before, next)
}

/** Goes on with the page that is shown; false if an entry is missing. */
function applyEntries(
  queries: ReturnType<typeof useQueryClient>,
  id: string,
  fresh: readonly RunEntry[],
): boolean {
  const page = queries.getQueryData<RunPage>(runKey(id))
  if (page === undefined) return true
  const fold = new RunFold(page)
  const whole = fresh.every((entry) => fold.apply(entry))
  const next = fold.page
  if (next.seq > page.seq) queries.setQueryData(runKey(id), next)
  // The last word about a run is the gateway's.
  return whole && !(isOver(next.status) && !isOver(page.status))
}

type Follower = {
  readonly id: string
  readonly take: (entry: RunEntry) => void
  readonly tell: (liveness: Liveness) => void
  readonly askAgain: () => void
  readonly isDone: () => boolean
}

async function follow({ id, take, tell, askAgain, isDone }: Follower, signal: AbortSignal): Promise<void> {
  let after = 0
  let failures = 0
  while (!signal.aborted) {
    try {
      const response = await ask('GET /runs/{id}/events', { params: { id }, query: { after }, signal })
      if (response.body === null) throw new Error('The answer has no body.')
      tell('live')
      failures = 0
      for await (const { event, data } of readEventStream(response.body)) {
        if (event === 'end') {
          askAgain()
          return tell('over')
        }
        const entry = entryIn(data)
        if (entry === null) continue
        after = Math.max(after, entry.seq)
        take(entry)
      }
    } catch (error) {
      if (signal.aborted) return
      // What is refused stays refused; the page shows why from its own request.
      if (error instanceof ProblemError && error.problem.status < 500 && error.problem.status !== 429)
        return tell('over')
    }
    if (signal.aborted) return
    if (isDone()) return tell('over')
    tell('lost')
    askAgain()
    failures++
    await pause(Math.min(250 * 2 ** failures, 10_000), signal)
  }
}

/** The entry in the data of an event; null for an event that carries none. */
function entryIn(data: string): RunEntry | null {
  if (!data.startsWith('{')) return null
  const value = JSON.parse(data) as Partial<RunEntry>
  return typeof value.seq === 'number' && typeof value.type === 'string' ? (value as RunEntry) : null
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
