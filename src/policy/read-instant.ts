const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

/**
 * The milliseconds since 1970 of a time with its offset, such as `2026-12-20T08:30:00+01:00`; null for any other text, and
 * for a day that no calendar has. Written out, because the core knows no clock and no locale.
 */
export function readInstant(text: string): number | null {
  const found = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d))?(Z|[+-]\d\d:\d\d)$/.exec(text)
  if (found === null) return null
  const [year, month, day, hour, minute] = found.slice(1, 6).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  const second = Number(found[6] ?? '0')
  const offset = readOffset(found[7]!)
  const isDay = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
  if (!isDay || hour > 23 || minute > 59 || second > 59 || offset === null) return null
  const leaps = leapsBefore(month > 2 ? year + 1 : year) - leapsBefore(1970)
  const days = (year - 1970) * 365 + leaps + daysBefore[month - 1]! + day - 1
  return ((days * 1440 + hour * 60 + minute - offset) * 60 + second) * 1000
}

/** The minutes of an offset from UTC such as `+01:00` or `Z`; null for any other text. */
export function readOffset(text: string): number | null {
  if (text === 'Z') return 0
  const found = /^([+-])(\d\d):([0-5]\d)$/.exec(text)
  if (found === null || Number(found[2]) > 14) return null
  return (found[1] === '-' ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3]))
}

/** How many leap years lie before the first day of the year. */
function leapsBefore(year: number): number {
  const last = year - 1
  return Math.floor(last / 4) - Math.floor(last / 100) + Math.floor(last / 400)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return leapsBefore(year + 1) > leapsBefore(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
