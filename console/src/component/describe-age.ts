const units = [
  ['y', 31_536_000],
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** A moment as seen from now: `now`, `12 s ago`, `in 3 min`. */
export function describeAge(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000)
  if (Math.abs(seconds) < 3) return 'now'
  const length = inUnits(Math.abs(seconds), 0)
  return seconds > 0 ? `${length} ago` : `in ${length}`
}

/** A length of time in its largest unit, such as `12 s` or `3.5 min`. */
export function describeSpan(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`
  return inUnits(milliseconds / 1000, 1)
}

function inUnits(seconds: number, digits: number): string {
  const [name, size] = units.find(([, each]) => seconds >= each) ?? units[4]
  const count = seconds / size
  const scale = count < 10 ? 10 ** digits : 1
  return `${Math.floor(count * scale) / scale} ${name}`
}

/** The time that is left, as a clock counts down: `14:59`, `1:02:03`; null when none is. */
export function describeLeft(until: number, now: number): string | null {
  const seconds = Math.floor((until - now) / 1000)
  if (seconds < 0) return null
  const parts = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => (index === 0 ? `${part}` : `${part}`.padStart(2, '0'))).join(':')
}
