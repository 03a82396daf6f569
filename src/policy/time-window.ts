import type { WeeklyFile } from './policy-schema.ts'
import { readInstant, readOffset } from './read-instant.ts'

/** A period in time: one stretch, or stretches of every week in minutes since Monday 00:00 UTC. The end is exclusive. */
export type TimeWindow =
  | { readonly kind: 'once'; readonly from: number; readonly to: number }
  | { readonly kind: 'weekly'; readonly stretches: readonly Stretch[] }

interface Stretch {
  readonly start: number
  readonly length: number
}

const week = 7 * 1440
const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** The period of two times, or what is wrong with which of them. */
export function readOnce(
  from: string,
  to: string,
): TimeWindow | { readonly key: 'from' | 'to'; readonly problem: string } {
  const mustBe = 'must be a time with its offset, such as 2026-12-20T00:00:00Z'
  const start = readInstant(from)
  if (start === null) return { key: 'from', problem: mustBe }
  const end = readInstant(to)
  if (end === null) return { key: 'to', problem: mustBe }
  return end > start ? { kind: 'once', from: start, to: end } : { key: 'to', problem: 'must be after `from`' }
}

/** The period of every week, or what is wrong with which part. */
export function readWeekly({
  from,
  to,
  days,
  offset,
}: WeeklyFile): TimeWindow | { readonly key: 'from' | 'to'; readonly problem: string } {
  const shift = readOffset(offset) ?? 0
  const mustBe =
    days === undefined ? 'must be a day and a time, such as `Fri 18:00`' : 'must be a time, such as `22:00`'
  const read = days === undefined ? readDayTime : readTime
  const start = read(from)
  if (start === null) return { key: 'from', problem: mustBe }
  const end = read(to)
  if (end === null) return { key: 'to', problem: mustBe }
  const period = days === undefined ? week : 1440
  // With days, the same time twice is a whole day; without, it could mean all week or nothing.
  if (end === start && days === undefined) return { key: 'to', problem: 'must differ from `from`' }
  const length = modulo(end - start, period) || period
  const starts = days === undefined ? [start] : days.map((day) => dayNames.indexOf(day) * 1440 + start)
  return {
    kind: 'weekly',
    stretches: starts.map((minute) => ({ start: modulo(minute - shift, week), length })),
  }
}

/** Says whether the time lies in the period. */
export function isWithin(period: TimeWindow, now: number): boolean {
  if (period.kind === 'once') return now >= period.from && now < period.to
  // 1970 began on a Thursday.
  const minute = modulo(Math.floor(now / 60_000) + 3 * 1440, week)
  return period.stretches.some(({ start, length }) => modulo(minute - start, week) < length)
}

/** Says whether two windows of one kind share a time; windows of different kinds are not compared. */
export function overlaps(one: TimeWindow, other: TimeWindow): boolean {
  if (one.kind === 'once' && other.kind === 'once') return one.from < other.to && other.from < one.to
  if (one.kind !== 'weekly' || other.kind !== 'weekly') return false
  return one.stretches.some((a) =>
    other.stretches.some(
      (b) => modulo(b.start - a.start, week) < a.length || modulo(a.start - b.start, week) < b.length,
    ),
  )
}

function readDayTime(text: string): number | null {
  const found = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d\d:\d\d)$/.exec(text)
  const minutes = found === null ? null : readTime(found[2]!)
  return minutes === null ? null : dayNames.indexOf(found![1]!) * 1440 + minutes
}

function readTime(text: string): number | null {
  const found = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text)
  return found === null ? null : Number(found[1]) * 60 + Number(found[2])
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
