import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ProblemError } from '../../../../src/client/index.ts'
import { ask, type Answer } from '../../server/ask.ts'
import { readEventStream } from '../../server/event-stream.ts'
import { addEntry, type RunEntry } from './run-entry.ts'

export type Run = Answer<'GET /runs/{id}'>

/** How the connection stands: `live`, or lost and tried again, or over because the run has ended. */
export type Liveness = 'connecting' | 'live' | 'lost' | 'over'

const ended = new Set<string>(['succeeded', 'incomplete', 'failed', 'cancelled'])

/** Whether nothing more will happen in a run. */
export function isOver(status: string): boolean {
  return ended.has(status)
}

/**
 * A run as it is now. The stream of its entries says that something happened; what the run is, the gateway is asked
 * again, so that two windows never disagree. A lost connection goes on behind the last entry that arrived.
 */
export function useLiveRun(id: string) {
  const queries = useQueryClient()
  const key = ['runs', 'one', id] as const
  const run = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask('GET /runs/{id}', { params: { id }, signal }),
    staleTime: 0,
  })
  const [entries, setEntries] = useState<readonly RunEntry[]>([])
  const [liveness, setLiveness] = useState<Liveness>('connecting')
  const known = useRef(0)
  known.current = Math.max(known.current, run.data?.seq ?? 0)
  const done = useRef(false)
  done.current = run.data !== undefined && isOver(run.data.status)

  useEffect(() => {
    const stop = new AbortController()
    setEntries([])
    setLiveness('connecting')
    known.current = 0
    done.current = false
    let asked: ReturnType<typeof setTimeout> | undefined
    const askAgain = () => {
      asked ??= setTimeout(() => {
        asked = undefined
        void queries.invalidateQueries({ queryKey: ['runs', 'one', id] })
      }, 120)
    }
    const take = (entry: RunEntry) => {
      setEntries((before) => addEntry(before, entry))
      if (entry.seq > known.current) askAgain()
    }
    void follow({ id, take, tell: setLiveness, askAgain, isDone: () => done.current }, stop.signal)
    return () => {
      stop.abort()
      clearTimeout(asked)
    }
  }, [id, queries])

  return { run, entries, liveness }
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
          tell('over')
          return askAgain()
        }
        if (data === '') continue
        const entry = JSON.parse(data) as RunEntry
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
    await pause(Math.min(500 * 2 ** failures, 10_000), signal)
  }
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
