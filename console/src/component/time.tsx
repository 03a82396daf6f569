import { useSyncExternalStore } from 'react'
import { describeAge } from './describe-age.ts'

/** A moment, told from now; its title has the date, and it keeps up while one looks. */
export function Time({ at, className = '' }: { at: string; className?: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className={`whitespace-nowrap ${className}`}>
      {describeAge(Date.parse(at), now)}
    </time>
  )
}

/** The time of day of a moment, with its date as the title. */
export function ClockTime({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={date.toLocaleString()} className="whitespace-nowrap">
      {date.toLocaleTimeString(undefined, { hour12: false })}
    </time>
  )
}

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for the whole page, in steps of a second; it stands still while nobody shows it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    now = Date.now()
    timer = setInterval(() => {
      now = Date.now()
      for (const each of listeners) each()
    }, 1000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
