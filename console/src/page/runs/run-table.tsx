import { Link } from '@tanstack/react-router'
import { Badge } from '../../component/badge.tsx'
import { describeSpan } from '../../component/describe-age.ts'
import { formatCost, formatCount } from '../../component/format-number.ts'
import { shortId } from '../../component/short-id.ts'
import { StatusBadge } from '../../component/status-badge.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time, useNow } from '../../component/time.tsx'
import type { ItemOf } from '../../server/ask.ts'

export type RunCard = ItemOf<'GET /runs'>

const columns: readonly Column<RunCard>[] = [
  {
    id: 'playbook',
    label: 'Playbook',
    grow: true,
    cell: (run) => (
      <div className="min-w-0">
        <Link
          to="/runs/$id"
          params={{ id: run.id }}
          className="font-medium hover:text-accent hover:underline"
        >
          {run.runbook.name}
        </Link>
        <span title={run.id} className="ml-2 hidden font-mono text-xs text-muted sm:inline">
          {shortId(run.id)}
        </span>
        <div className="text-xs text-muted md:hidden">
          <Time at={run.startedAt} /> by {run.startedBy}
        </div>
        {(run.reason ?? '').trim() !== '' && <div className="truncate text-xs text-muted">{run.reason}</div>}
      </div>
    ),
  },
  { id: 'status', label: 'Status', cell: (run) => <StatusBadge status={run.status} /> },
  { id: 'mode', label: 'Mode', wide: true, cell: (run) => <ModeBadge mode={run.mode} /> },
  { id: 'by', label: 'Started by', wide: true, cell: (run) => run.startedBy },
  { id: 'at', label: 'Started', wide: true, cell: (run) => <Time at={run.startedAt} /> },
  { id: 'took', label: 'Took', wide: true, align: 'end', cell: (run) => <Duration run={run} /> },
  {
    id: 'calls',
    label: 'Calls',
    wide: true,
    align: 'end',
    cell: (run) => (
      <>
        {formatCount(run.calls)}
        {run.denied > 0 && <span className="text-bad"> · {run.denied} denied</span>}
      </>
    ),
  },
  { id: 'cost', label: 'Cost', wide: true, align: 'end', cell: (run) => formatCost(run.cost) },
]

/** Runs as a table. */
export function RunTable({ runs }: { runs: readonly RunCard[] }) {
  return <Table label="Runs" rows={runs} columns={columns} keyOf={(run) => run.id} />
}

/** Whether a run only shows what it would do. */
export function ModeBadge({ mode }: { mode: string }) {
  return mode === 'execute' ? (
    <Badge tone="accent" icon={null}>
      execute
    </Badge>
  ) : (
    <Badge tone="still" icon={null}>
      dry run
    </Badge>
  )
}

/** How long a run took, or has been going on. */
export function Duration({ run }: { run: Pick<RunCard, 'startedAt' | 'endedAt'> }) {
  const now = useNow()
  return describeSpan((run.endedAt === null ? now : Date.parse(run.endedAt)) - Date.parse(run.startedAt))
}
