import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Card, Facts } from '../../component/card.tsx'
import { CopyButton } from '../../component/copy-button.tsx'
import { formatCost, formatCount } from '../../component/format-number.ts'
import { Icon } from '../../component/icon.tsx'
import { Skeleton } from '../../component/skeleton.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { Tabs } from '../../component/tabs.tsx'
import { Time } from '../../component/time.tsx'
import { Timeline } from '../../component/timeline.tsx'
import { FlowDiagram, type DrawnStep } from '../../flow/flow-diagram.tsx'
import { Loaded } from '../../server/loaded.tsx'
import { Page } from '../../shell/page.tsx'
import { Duration, ModeBadge } from '../runs/run-table.tsx'
import { CallList } from './call-list.tsx'
import { Conversation } from './conversation.tsx'
import { describeEntry } from './describe-entry.ts'
import { RunActions } from './run-actions.tsx'
import type { RunEntry, RunPage as Run } from '../../../../src/api/run-fold.ts'
import { RunRecord } from './run-record.tsx'
import { isOver, useLiveRun, type Liveness } from './use-live-run.ts'

const route = getRouteApi('/shell/runs/$id')

/** A run as it happens. */
export function RunPage() {
  const { id } = route.useParams()
  const { run, entries, liveness } = useLiveRun(id)
  return (
    <Page
      key={id}
      title={run.data?.runbook.name ?? 'Run'}
      note={
        <span className="flex flex-wrap items-center gap-2">
          <span className="inline-flex items-center font-mono text-xs">
            {id}
            <CopyButton text={id} label="the run's id" />
          </span>
          {run.data !== undefined && (
            <>
              <StatusBadge status={run.data.status} />
              <ModeBadge mode={run.data.mode} />
              {!run.data.enforced && <Badge tone="warn">observed, not enforced</Badge>}
            </>
          )}
          <LivenessSign liveness={liveness} />
        </span>
      }
      actions={run.data === undefined ? undefined : <RunActions run={run.data} />}
    >
      <Loaded query={run} lines={8}>
        {(data) => <RunBody run={data} entries={entries} />}
      </Loaded>
    </Page>
  )
}

function LivenessSign({ liveness }: { liveness: Liveness }) {
  const said = {
    connecting: 'connecting …',
    live: 'live',
    lost: 'connection lost, trying again …',
    over: '',
  }[liveness]
  return (
    <span role="status" className={`text-xs ${liveness === 'lost' ? 'font-medium text-warn' : 'text-muted'}`}>
      {liveness === 'live' && <Icon name="dot" className="inline size-3 text-ok" />} {said}
    </span>
  )
}

function RunBody({ run, entries }: { run: Run; entries: readonly RunEntry[] }) {
  const { step = null } = route.useSearch()
  const navigate = route.useNavigate()
  const steps = useMemo(() => drawSteps(run), [run])
  const choose = (chosen: string | null) =>
    void navigate({ search: (before) => ({ ...before, step: chosen ?? '' }), replace: true })
  return (
    <div className="flex flex-col gap-4">
      <Waiting run={run} />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(17rem,26rem)_1fr]">
        <div className="flex min-w-0 flex-col gap-4">
          <Card title="Procedure">
            <FlowDiagram steps={steps} label="Steps of the playbook" chosen={step} onChoose={choose} />
            <StepNote run={run} step={step} />
          </Card>
          <Card title="About">
            <About run={run} />
          </Card>
        </div>
        <RunTabs run={run} entries={entries} step={step} />
      </div>
    </div>
  )
}

/** The steps as they are drawn: one whose call waits for approval, or is under way, says so. */
function drawSteps({ steps, callList }: Run): readonly DrawnStep[] {
  const open = new Map(
    callList.flatMap(({ step, state }) =>
      step !== null && (state === 'held' || state === 'executing') ? [[step, state] as const] : [],
    ),
  )
  return steps.map((step) => ({
    ...step,
    status: open.get(step.id) === 'held' ? 'held' : open.has(step.id) ? 'in_progress' : step.status,
  }))
}

/** What the run waits for, above everything else. */
function Waiting({ run }: { run: Run }) {
  const held = run.approvals.filter(({ state }) => state === 'waiting')
  const others = run.waitsFor.filter(({ kind }) => kind !== 'approval')
  if (held.length === 0 && others.length === 0) return null
  return (
    <div className="flex flex-col gap-2">
      {held.map((approval) => (
        <div
          key={approval.id}
          className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-warn/50 bg-warn-soft px-4 py-2.5 text-sm"
        >
          <Icon name="approval" className="size-5 text-warn" />
          <span className="min-w-0 grow">
            <strong className="font-mono">{approval.tool}</strong> waits for approval: {approval.reason}
          </span>
          <Link
            to="/approvals/$id"
            params={{ id: approval.id }}
            className="font-medium text-accent underline"
          >
            Look at it and decide
          </Link>
        </div>
      ))}
      {others.map(({ kind, text }) => (
        <div
          key={`${kind} ${text}`}
          className="flex items-center gap-3 rounded-lg border border-line bg-surface px-4 py-2.5 text-sm"
        >
          <Icon
            name={kind === 'answer' || kind === 'outcome' ? 'person' : 'clock'}
            className="size-5 text-warn"
          />
          <span>
            {kind === 'time' && !Number.isNaN(Date.parse(text)) ? (
              <>
                Goes on <Time at={text} />
              </>
            ) : kind === 'outcome' ? (
              <>
                Nobody knows what became of <strong className="font-mono">{text}</strong>. Say so at the call,
                so that the run goes on.
              </>
            ) : (
              text
            )}
          </span>
        </div>
      ))}
    </div>
  )
}

function StepNote({ run, step }: { run: Run; step: string | null }) {
  const chosen = run.steps.find(({ id }) => id === step)
  if (chosen === undefined)
    return <p className="mt-2 text-xs text-muted">Choose a step to see its calls alone.</p>
  return (
    <div className="mt-3 border-t border-line pt-2 text-sm">
      <p className="flex items-center gap-2 font-medium">
        {chosen.name} <StatusBadge status={chosen.status} />
      </p>
      <p className="mt-1">{chosen.says}</p>
      {chosen.note !== null && <p className="mt-1 text-muted">{chosen.note}</p>}
    </div>
  )
}

function About({ run }: { run: Run }) {
  const { runbook } = run
  return (
    <Facts
      facts={[
        ['Playbook', `${runbook.name}${runbook.version === null ? '' : `, version ${runbook.version}`}`],
        ['Started', <Time key="at" at={run.startedAt} />],
        ['Started by', run.startedBy],
        ['Took', <Duration key="took" run={run} />],
        ['Calls', `${formatCount(run.calls)}${run.denied === 0 ? '' : `, ${run.denied} denied`}`],
        ['Model', run.model ?? 'none'],
        ['Tokens', formatCount(run.tokens)],
        ['Cost', formatCost(run.cost)],
        ...(run.parent === null ? [] : [['Under', <RunLink key="parent" id={run.parent} />] as const]),
        ...(run.children.length === 0
          ? []
          : [
              [
                'Above',
                <span key="children" className="flex flex-wrap gap-x-3">
                  {run.children.map((child) => (
                    <RunLink key={child.run} id={child.run} />
                  ))}
                </span>,
              ] as const,
            ]),
        ...(run.reason === null ? [] : [['Reason', run.reason] as const]),
        ...(run.digest === null
          ? []
          : [
              [
                'Pinned to',
                <code key="digest" className="text-xs break-all">
                  {run.digest}
                </code>,
              ] as const,
            ]),
      ]}
    />
  )
}

function RunLink({ id }: { id: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} className="font-mono text-xs text-accent underline">
      {id}
    </Link>
  )
}

function RunTabs({ run, entries, step }: { run: Run; entries: readonly RunEntry[]; step: string | null }) {
  const { tab } = route.useSearch()
  const navigate = route.useNavigate()
  const talks = run.conversation.length > 0 || run.waitsFor.some(({ kind }) => kind === 'answer')
  const items = useMemo(
    () =>
      entries.flatMap((entry) => {
        const described = describeEntry(entry)
        return described === null ? [] : [{ key: entry.seq, at: entry.at, ...described }]
      }),
    [entries],
  )
  const names = ['calls', 'timeline', ...(talks ? ['conversation'] : []), 'record'] as const
  const first = talks ? 'conversation' : 'calls'
  const value = names.find((name) => name === tab) ?? first
  return (
    <div className="min-w-0">
      <Tabs
        label="About this run"
        value={value}
        onChange={(chosen) =>
          void navigate({ search: (before) => ({ ...before, tab: chosen }), replace: true })
        }
        tabs={[
          ...(talks
            ? [{ value: 'conversation', label: 'Conversation', content: <Conversation run={run} /> }]
            : []),
          {
            value: 'calls',
            label: `Calls (${formatCount(run.callList.length)})`,
            content: <CallList run={isOver(run.status) ? null : run.id} calls={run.callList} step={step} />,
          },
          {
            value: 'timeline',
            label: 'Timeline',
            content:
              // Every run has entries: where none is here yet, they are under way.
              items.length === 0 ? <Skeleton lines={8} /> : <Timeline label="What happened" items={items} />,
          },
          { value: 'record', label: 'Record', content: <RunRecord run={run} /> },
        ]}
      />
    </div>
  )
}
