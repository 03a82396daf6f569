import { useQuery } from '@tanstack/react-query'
import { Icon } from '../component/icon.tsx'
import { Time } from '../component/time.tsx'
import { ask } from '../server/ask.ts'

/** Whether all runs are halted. */
export const haltQuery = {
  queryKey: ['halt'],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('GET /halt', { signal }),
  refetchInterval: 15_000,
} as const

/** Stands above every page while all runs are halted. */
export function HaltNotice() {
  const halt = useQuery(haltQuery).data?.halt
  if (halt === undefined || halt === null) return null
  return (
    <div
      role="status"
      className="flex items-center gap-2 border-b border-bad/50 bg-bad-soft px-4 py-2 text-sm sm:px-6"
    >
      <Icon name="stop" className="size-4 text-bad" />
      <span>
        <strong>All runs are halted</strong> by {halt.by}, <Time at={halt.at} />: {halt.reason}
      </span>
    </div>
  )
}
