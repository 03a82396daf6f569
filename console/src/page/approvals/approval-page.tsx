import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Card, Facts } from '../../component/card.tsx'
import { JsonBlock } from '../../component/code-block.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { Time } from '../../component/time.tsx'
import { ask } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { Page } from '../../shell/page.tsx'
import { DecideDialog, type Approval, type Decision } from './decide-dialog.tsx'
import { KeyHint } from './key-hint.tsx'
import { TimeLeft } from './time-left.tsx'
import { useKeys } from './use-keys.ts'

const route = getRouteApi('/shell/approvals/$id')

/** Everything that somebody needs to decide about one call, on one screen. */
export function ApprovalPage() {
  const { id } = route.useParams()
  const approval = useQuery({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => ask('GET /approvals/{id}', { params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? 3000 : false),
  })
  return (
    <Page
      key={id}
      title={titleOf(approval.data)}
      note={
        <Link to="/approvals" className="text-accent underline">
          All approvals
        </Link>
      }
    >
      <Loaded query={approval} lines={7}>
        {(data) => <Deciding approval={data} />}
      </Loaded>
    </Page>
  )
}

function titleOf(approval: Approval | undefined): string {
  if (approval === undefined) return 'Approval'
  const open = approval.state === 'waiting' && approval.mayDecide
  return open ? `Approve ${approval.tool}?` : `Approval of ${approval.tool}`
}

function Deciding({ approval }: { approval: Approval }) {
  const { decide } = route.useSearch()
  const navigate = route.useNavigate()
  const open = approval.state === 'waiting' && approval.mayDecide
  const keys = useMemo(() => {
    const choose = (decision: Decision) => void navigate({ search: { decide: decision }, replace: true })
    return open ? { a: () => choose('approve'), d: () => choose('deny') } : {}
  }, [navigate, open])
  const { on, toggle } = useKeys(keys)
  const decision = decide === 'approve' || decide === 'deny' ? decide : null
  return (
    <div className="pb-20 md:pb-0">
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
        <TheCall approval={approval} />
        <div className="flex min-w-0 flex-col gap-4">
          <ThePeople approval={approval} />
          <Card
            title="The run so far"
            actions={
              <Link to="/runs/$id" params={{ id: approval.run }} className="text-sm text-accent underline">
                Open the run
              </Link>
            }
          >
            {approval.before.length === 0 ? (
              <p className="text-sm text-muted">Nothing happened before this call.</p>
            ) : (
              <ol className="flex flex-col gap-1 font-mono text-xs">
                {approval.before.map((line, index) => (
                  <li key={`${index} ${line}`} className="break-words">
                    {line}
                  </li>
                ))}
              </ol>
            )}
          </Card>
        </div>
      </div>
      {open && (
        <div className="fixed inset-x-0 bottom-0 z-20 flex gap-2 border-t border-line bg-surface p-3 md:static md:mt-4 md:border-0 md:bg-transparent md:p-0">
          <Button
            look="main"
            icon="check"
            className="h-11 grow md:h-9 md:grow-0"
            onClick={() => void navigate({ search: { decide: 'approve' }, replace: true })}
          >
            Approve …
          </Button>
          <Button
            look="danger"
            icon="close"
            className="h-11 grow md:h-9 md:grow-0"
            onClick={() => void navigate({ search: { decide: 'deny' }, replace: true })}
          >
            Deny …
          </Button>
        </div>
      )}
      {open && (
        <KeyHint
          on={on}
          toggle={toggle}
          keys={[
            ['a', 'approve'],
            ['d', 'deny'],
          ]}
        />
      )}
      {open && decision !== null && (
        <DecideDialog
          key={decision}
          approval={approval}
          decision={decision}
          onClose={() => void navigate({ search: {}, replace: true })}
        />
      )}
    </div>
  )
}

function TheCall({ approval }: { approval: Approval }) {
  return (
    <Card
      title="The call"
      actions={
        approval.state === 'waiting' ? (
          <TimeLeft until={approval.expiresAt} />
        ) : (
          <StatusBadge status={approval.state} />
        )
      }
    >
      <div className="flex flex-col gap-3">
        <p className="font-mono font-semibold break-words">{approval.tool}</p>
        <div>
          <p className="mb-1 flex items-center gap-2 text-xs font-medium text-muted">
            Arguments
            {approval.byModel && (
              <Badge tone="accent" icon="model">
                written by a model
              </Badge>
            )}
          </p>
          <JsonBlock value={approval.args} label="Arguments" />
        </div>
        <Facts
          facts={[
            ['Why', approval.reason],
            ...(approval.policy === null ? [] : [['Policy', approval.policy] as const]),
            ...(approval.rule === null ? [] : [['Rule', approval.rule] as const]),
            ['Playbook', approval.runbook],
            ...(approval.step === null ? [] : [['Step', approval.step] as const]),
            [
              'Asked for',
              <span key="asked">
                by {approval.askedBy}, <Time at={approval.askedAt} />
              </span>,
            ],
          ]}
        />
      </div>
    </Card>
  )
}

function ThePeople({ approval }: { approval: Approval }) {
  return (
    <Card title="Who decides">
      <div className="flex flex-col gap-2 text-sm">
        {approval.demands.map((demand) => (
          <p key={`${demand.policy} ${demand.rule}`}>
            {demand.count} of {[...demand.roles, ...demand.approvers].join(', ') || 'anybody who may approve'}
            <span className="text-muted">
              {' '}
              · {demand.rule}
              {demand.allowSelfApproval ? ' · whoever asked may approve too' : ''}
            </span>
          </p>
        ))}
        {approval.requesters.length > 0 && (
          <p className="text-muted">
            Asked for by {approval.requesters.join(', ')}
            {approval.demands.some(({ allowSelfApproval }) => !allowSelfApproval)
              ? ', who cannot approve it.'
              : '.'}
          </p>
        )}
        {approval.votes.map((vote) => (
          <p key={`${vote.person} ${vote.at}`} className="flex flex-wrap items-center gap-2">
            <StatusBadge status={vote.answer === 'approve' ? 'granted' : 'denied'} />
            <span>
              {vote.person} <span className="text-muted">({vote.identity.replaceAll('_', ' ')})</span>
              {vote.reason === null ? '' : `: ${vote.reason}`}
            </span>
            <Time at={vote.at} className="text-xs text-muted" />
          </p>
        ))}
        {approval.state === 'waiting' &&
          approval.missing.map((line) => (
            <p key={line} className="font-medium">
              {line}
            </p>
          ))}
        {approval.state === 'waiting' && !approval.mayDecide && (
          <p className="rounded-md bg-sunken px-2.5 py-1.5 text-muted">
            You cannot decide this: {approval.whyNot ?? 'your role does not permit it.'}
          </p>
        )}
      </div>
    </Card>
  )
}
