const day = 86_400_000

/** A time in milliseconds since 1970 as text, in UTC: `2026-11-16T01:59:03.250Z`; the same that the platform's `toISOString` gives. */
export function utcTime(at: number): string {
  const days = Math.floor(at / day)
  const ms = Math.floor(at - days * day)
  const { year, month, date } = civilDate(days)
  const time = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${pad(year, 4)}-${pad(month)}-${pad(date)}T${time.map((part) => pad(part)).join(':')}.${pad(ms % 1000, 3)}Z`
}

/** The date of a day counted from 1970-01-01. Years are counted from March here, so that the leap day is the last of a year. */
function civilDate(days: number): { year: number; month: number; date: number } {
  const sinceMarch = days + 719_468
  const era = Math.floor(sinceMarch / 146_097)
  const ofEra = sinceMarch - era * 146_097
  const years = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  )
  const ofYear = ofEra - (365 * years + Math.floor(years / 4) - Math.floor(years / 100))
  const sinceStart = Math.floor((5 * ofYear + 2) / 153)
  const month = sinceStart < 10 ? sinceStart + 3 : sinceStart - 9
  const date = ofYear - Math.floor((153 * sinceStart + 2) / 5) + 1
  return { year: years + era * 400 + (month <= 2 ? 1 : 0), month, date }
}

function pad(part: number, length = 2): string {
  return String(part).padStart(length, '0')
}
