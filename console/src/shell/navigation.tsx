import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Permission } from '../../../src/api/permission.ts'
import { Icon, type IconName } from '../component/icon.tsx'
import { ask } from '../server/ask.ts'
import { useMe } from '../server/me.ts'

const entries = [
  { to: '/', label: 'Dashboard', icon: 'dashboard', needs: 'run:read' },
  { to: '/playbooks', label: 'Playbooks', icon: 'playbook', needs: 'runbook:read' },
  { to: '/runs', label: 'Runs', icon: 'run', needs: 'run:read' },
  { to: '/approvals', label: 'Approvals', icon: 'approval', needs: 'approval:read' },
  { to: '/policies', label: 'Policies', icon: 'policy', needs: 'policy:read' },
  { to: '/analytics', label: 'Analytics', icon: 'analytics', needs: 'analytics:read' },
  { to: '/audit', label: 'Audit', icon: 'audit', needs: 'audit:read' },
  { to: '/settings', label: 'Settings', icon: 'settings', needs: null },
] as const satisfies readonly { to: string; label: string; icon: IconName; needs: Permission | null }[]

/** The places of the console; those that somebody may not read are left out. */
export function Navigation({ onChosen }: { onChosen?: () => void }) {
  const { permissions } = useMe()
  return (
    <nav aria-label="Main">
      <ul className="flex flex-col gap-0.5">
        {entries
          .filter(({ needs }) => needs === null || permissions.includes(needs))
          .map(({ to, label, icon }) => (
            <li key={to}>
              <Link
                to={to}
                activeOptions={{ exact: to === '/' }}
                {...(onChosen === undefined ? {} : { onClick: onChosen })}
                className="flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
              >
                <Icon name={icon} />
                <span className="grow">{label}</span>
                {to === '/approvals' && <WaitingCount />}
              </Link>
            </li>
          ))}
      </ul>
    </nav>
  )
}

/** What waits for somebody's approval, kept up to date. */
export const waitingQuery = {
  queryKey: ['approvals', 'waiting', 'count'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ask('GET /approvals', { query: { state: 'waiting', limit: 100 }, signal }),
  refetchInterval: 8000,
} as const

function WaitingCount() {
  const { data } = useQuery(waitingQuery)
  if (data === undefined || data.items.length === 0) return null
  return (
    <span className="min-w-5 rounded-full bg-warn-soft px-1.5 text-center text-xs font-semibold text-warn">
      {data.next === null ? data.items.length : `${data.items.length}+`}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
