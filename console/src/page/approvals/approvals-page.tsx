import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo, useRef } from 'react'
import { Empty } from '../../component/empty.tsx'
import { MoreButton } from '../../component/more-button.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { Tabs } from '../../component/tabs.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { usePages } from '../../server/use-pages.ts'
import { Page } from '../../shell/page.tsx'
import { KeyHint } from './key-hint.tsx'
import { TimeLeft } from './time-left.tsx'
import { useKeys } from './use-keys.ts'

const route = getRouteApi('/shell/approvals')
type Card = ItemOf<'GET /approvals'>

/** The calls that wait for somebody, and those that were decided. */
export function ApprovalsPage() {
  const { state } = route.useSearch()
  const navigate = route.useNavigate()
  const shown = state === 'decided' ? 'decided' : 'waiting'
  return (
    <Page title="Approvals">
      <Tabs
        label="Approvals"
        value={shown}
        onChange={(chosen) => void navigate({ search: { state: chosen }, replace: true })}
        tabs={[
          { value: 'waiting', label: 'Waiting', content: <Inbox state="waiting" /> },
          { value: 'decided', label: 'Decided', content: <Inbox state="decided" /> },
        ]}
      />
    </Page>
  )
}

function Inbox({ state }: { state: 'waiting' | 'decided' }) {
  const list = usePages(
    ['approvals', 'list', state],
    (cursor, signal) =>
      ask('GET /approvals', { query: { state, ...(cursor === undefined ? {} : { cursor }) }, signal }),
    { refetchInterval: 5000 },
  )
  const navigate = route.useNavigate()
  const box = useRef<HTMLUListElement>(null)
  const keys = useMemo(() => {
    const links = () => [...(box.current?.querySelectorAll<HTMLAnchorElement>('a[data-approval]') ?? [])]
    const focused = () => links().findIndex((link) => link === document.activeElement)
    const move = (by: number) => {
      const all = links()
      const at = focused()
      all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus()
    }
    const decide = (answer: string) => {
      const id = links()[focused()]?.dataset['approval']
      if (id !== undefined)
        void navigate({ to: '/approvals/$id', params: { id }, search: { decide: answer } })
    }
    return { j: () => move(1), k: () => move(-1), a: () => decide('approve'), d: () => decide('deny') }
  }, [navigate])
  const { on, toggle } = useKeys(keys)
  return (
    <Loaded query={list} lines={4}>
      {(items) =>
        items.length === 0 ? (
          <Empty
            icon="approval"
            title={state === 'waiting' ? 'Nothing waits for approval' : 'Nothing was decided yet'}
          >
            {state === 'waiting'
              ? 'When a policy wants a person to look at a call, the call stands here until somebody approves or denies it, or its time is up.'
              : 'Calls that were approved, denied or expired are kept here.'}
          </Empty>
        ) : (
          <>
            <ul ref={box} className="flex flex-col gap-2" aria-label={`Approvals, ${state}`}>
              {items.map((card) => (
                <ApprovalRow key={card.id} card={card} />
              ))}
            </ul>
            <MoreButton list={list} />
            {state === 'waiting' && (
              <KeyHint
                on={on}
                toggle={toggle}
                keys={[
                  ['j', 'next'],
                  ['k', 'previous'],
                  ['Enter', 'look at it'],
                  ['a', 'approve'],
                  ['d', 'deny'],
                ]}
              />
            )}
          </>
        )
      }
    </Loaded>
  )
}

function ApprovalRow({ card }: { card: Card }) {
  return (
    <li>
      <Link
        to="/approvals/$id"
        params={{ id: card.id }}
        data-approval={card.id}
        className="flex flex-col gap-1 rounded-lg border border-line bg-surface px-3 py-2.5 hover:bg-hover"
      >
        <span className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
          <span className="font-mono text-sm font-semibold">{card.tool}</span>
          {card.state === 'waiting' ? (
            <TimeLeft until={card.expiresAt} />
          ) : (
            <StatusBadge status={card.state} />
          )}
        </span>
        <span className="text-sm">{card.reason}</span>
        <span className="text-xs text-muted">
          {card.runbook}
          {card.step === null ? '' : ` · step ${card.step}`} · asked for by {card.askedBy},{' '}
          <Time at={card.askedAt} />
        </span>
      </Link>
    </li>
  )
}
