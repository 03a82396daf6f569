import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Facts } from '../../component/card.tsx'
import { JsonBlock } from '../../component/code-block.tsx'
import { describeSpan } from '../../component/describe-age.ts'
import { Empty } from '../../component/empty.tsx'
import { Icon } from '../../component/icon.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { ClockTime } from '../../component/time.tsx'
import type { RunPage as Run } from '../../../../src/api/run-fold.ts'
import { SettleCall } from './settle-call.tsx'

type Call = Run['callList'][number]

/** Every call of a run, each with what was decided about it, why, and what came of it. */
export function CallList({
  run,
  calls,
  step,
}: {
  /** The run, if it goes on, so that what became of a call can be said. */
  run: string | null
  calls: readonly Call[]
  step: string | null
}) {
  const shown = step === null ? calls : calls.filter((call) => call.step === step)
  if (shown.length === 0)
    return (
      <Empty icon="run" title={step === null ? 'No calls yet' : `No calls in step ${step}`}>
        {step === null
          ? 'Each tool call appears here, with the verdict of the gate, when it is made.'
          : 'Choose the step again to see the calls of all steps.'}
      </Empty>
    )
  return (
    <ol className="flex flex-col gap-1.5" aria-label="Calls">
      {shown.map((call, index) => (
        <CallRow key={call.id ?? `${call.at} ${index}`} run={run} call={call} />
      ))}
    </ol>
  )
}

function CallRow({ run, call }: { run: string | null; call: Call }) {
  const [open, setOpen] = useState(false)
  return (
    <li className="rounded-md border border-line bg-surface">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full flex-wrap items-center gap-x-2.5 gap-y-1 rounded-md px-2.5 py-1.5 text-left text-sm hover:bg-hover"
      >
        <Icon name={open ? 'down' : 'right'} className="size-3.5 text-muted" />
        <StatusBadge status={call.state} />
        <span className="font-mono text-xs font-medium">{call.tool}</span>
        <span className="min-w-0 grow truncate font-mono text-xs text-muted">{summary(call)}</span>
        {call.undoes !== null && (
          <Badge tone="warn" icon={null}>
            undoes {call.undoes}
          </Badge>
        )}
        <span className="font-mono text-xs text-muted">
          <ClockTime at={call.at} />
        </span>
      </button>
      {call.state === 'denied' && call.reason !== null && (
        <p className="px-9 pb-1.5 text-xs break-words text-bad">
          {call.code === null ? '' : `${call.code}: `}
          {call.reason}
        </p>
      )}
      {call.state === 'unknown' && run !== null && call.id !== null && (
        <SettleCall run={run} call={call.id} />
      )}
      {open && <CallDetail call={call} />}
    </li>
  )
}

function CallDetail({ call }: { call: Call }) {
  const took = call.settledAt === null ? null : Date.parse(call.settledAt) - Date.parse(call.at)
  const facts = [
    [
      'Verdict',
      call.state === 'denied'
        ? `denied${call.code === null ? '' : `, ${call.code}`}`
        : (call.code ?? 'let through'),
    ],
    ['Rule', call.rule],
    ['Policy', call.policy],
    ['Reason', call.reason],
    ['Step', call.step],
    ['Call', call.id],
    ['Took', took === null ? null : describeSpan(took)],
    ['Error', call.error],
  ] as const
  return (
    <div className="flex flex-col gap-3 border-t border-line px-3 py-2.5">
      <Facts facts={facts.filter(([, value]) => value !== null)} />
      {call.approval !== null && (
        <Link
          to="/approvals/$id"
          params={{ id: call.approval }}
          className="text-sm font-medium text-accent underline"
        >
          The approval of this call
        </Link>
      )}
      <div>
        <p className="mb-1 flex items-center gap-2 text-xs font-medium text-muted">
          Arguments
          {call.byModel && (
            <Badge tone="accent" icon="model">
              written by a model
            </Badge>
          )}
        </p>
        <JsonBlock value={call.args} label="Arguments" />
      </div>
      {call.result !== null && (
        <div>
          <p className="mb-1 text-xs font-medium text-muted">Result</p>
          <JsonBlock value={call.result} label="Result" />
        </div>
      )}
    </div>
  )
}

function summary({ args }: Call): string {
  return Object.entries(args ?? {})
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
}
