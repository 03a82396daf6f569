import { Badge } from '../../component/badge.tsx'
import { describeLeft } from '../../component/describe-age.ts'
import { useNow } from '../../component/time.tsx'

/** How long an approval can still be given. */
export function TimeLeft({ until }: { until: string }) {
  const now = useNow()
  const left = describeLeft(Date.parse(until), now)
  if (left === null)
    return (
      <Badge tone="still" icon="clock">
        time is up
      </Badge>
    )
  const soon = Date.parse(until) - now < 120_000
  return (
    <Badge tone={soon ? 'bad' : 'warn'} icon="clock">
      <span role="timer" aria-live="off">
        {left} left
      </span>
    </Badge>
  )
}
