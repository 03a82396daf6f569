import { utcTime } from '../../shared/utc-time.ts'

/** A time in milliseconds since 1970 as text, in UTC and whole seconds: `2026-11-16T01:59:03Z`. */
export function timestamp(at: number): string {
  return utcTime(at).replace(/\.\d+Z$/, 'Z')
}
