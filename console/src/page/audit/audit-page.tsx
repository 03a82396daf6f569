import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { Button } from '../../component/button.tsx'
import { Card, Facts } from '../../component/card.tsx'
import { JsonBlock } from '../../component/code-block.tsx'
import { Dialog } from '../../component/dialog.tsx'
import { DownloadLink } from '../../component/download-link.tsx'
import { Empty } from '../../component/empty.tsx'
import { TextField } from '../../component/field.tsx'
import { formatCount } from '../../component/format-number.ts'
import { MoreButton } from '../../component/more-button.tsx'
import { Problem } from '../../component/problem.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { usePages } from '../../server/use-pages.ts'
import { Page } from '../../shell/page.tsx'
import { Lines, tellFlaw } from '../run/run-record.tsx'

const route = getRouteApi('/shell/audit')
type Entry = ItemOf<'GET /audit'>
type Search = ReturnType<typeof route.useSearch>

/** What was done, by whom, in a chain that can be checked. */
export function AuditPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [shown, setShown] = useState<Entry | null>(null)
  const query = { ...search, ...dayRange(search) }
  const list = usePages(['audit', 'list', query], (cursor, signal) =>
    ask('GET /audit', { query: { ...query, ...(cursor === undefined ? {} : { cursor }) }, signal }),
  )
  return (
    <Page title="Audit" note="Everything that was done here, each entry bound to the one before it.">
      <div className="mb-4 grid grid-cols-1 items-start gap-4 lg:grid-cols-3">
        <Verify />
        <Checkpoints />
        <Archive search={search} />
      </div>
      <Filters
        key={JSON.stringify(search)}
        search={search}
        onChange={(next) => void navigate({ search: next, replace: true })}
      />
      <Loaded query={list} lines={8}>
        {(entries) =>
          entries.length === 0 ? (
            <Empty icon="audit" title="No entry fits this">
              Take a filter away, or choose a longer time.
            </Empty>
          ) : (
            <>
              <Table
                label="Audit entries"
                rows={entries}
                columns={columnsOf(setShown)}
                keyOf={({ seq }) => String(seq)}
              />
              <MoreButton list={list} />
            </>
          )
        }
      </Loaded>
      {shown !== null && (
        <Dialog
          open
          wide
          onOpenChange={(open) => !open && setShown(null)}
          title={`Entry ${shown.seq}`}
          description={`${shown.type} by ${shown.by}`}
        >
          <div className="flex flex-col gap-3">
            {shown.data === null ? (
              <p className="text-sm text-muted">
                What it said was erased; that it was there can still be proven.
              </p>
            ) : (
              <JsonBlock value={shown.data} label="Data" />
            )}
            <Facts
              facts={[
                ['At', new Date(shown.at).toLocaleString()],
                [
                  'Hash',
                  <code key="hash" className="text-xs break-all">
                    {shown.hash}
                  </code>,
                ],
              ]}
            />
          </div>
        </Dialog>
      )}
    </Page>
  )
}

function columnsOf(show: (entry: Entry) => void): readonly Column<Entry>[] {
  return [
    {
      id: 'type',
      label: 'What',
      cell: (entry) => (
        <button
          type="button"
          onClick={() => show(entry)}
          className="rounded-sm text-left font-mono text-xs font-medium hover:text-accent hover:underline"
        >
          {entry.type}
        </button>
      ),
    },
    { id: 'by', label: 'By', cell: ({ by }) => by },
    { id: 'about', label: 'About', wide: true, cell: (entry) => <About entry={entry} /> },
    { id: 'at', label: 'When', cell: ({ at }) => <Time at={at} /> },
    { id: 'seq', label: 'Entry', align: 'end', wide: true, cell: ({ seq }) => formatCount(seq) },
  ]
}

/** What says to people what an entry is about; the rest is behind its name. */
const telling = new Set([
  'name',
  'email',
  'role',
  'version',
  'runbook',
  'policy',
  'tool',
  'how',
  'reason',
  'note',
  'url',
  'events',
  'prefix',
])

function About({ entry }: { entry: Entry }) {
  const run = entry.data?.['run']
  if (typeof run === 'string')
    return (
      <Link to="/runs/$id" params={{ id: run }} className="font-mono text-xs text-accent underline">
        {run}
      </Link>
    )
  const words = Object.entries(entry.data ?? {})
    .filter(([name]) => telling.has(name))
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `${name}: ${String(value)}`)
  return <span className="block max-w-md truncate text-xs text-muted">{words.join(' · ')}</span>
}

function Verify() {
  const proof = useQuery({
    queryKey: ['audit', 'proof'],
    queryFn: ({ signal }) => ask('GET /audit/verify', { signal }),
    enabled: false,
  })
  const { data } = proof
  return (
    <Card
      title="Verify"
      actions={
        <Button small icon="approval" busy={proof.isFetching} onClick={() => void proof.refetch()}>
          Check the chain
        </Button>
      }
    >
      {proof.error !== null && <Problem error={proof.error} />}
      {data === undefined ? (
        <p className="text-sm text-muted">
          Checks every entry of this chain and of all its runs, and that no run is missing.
        </p>
      ) : (
        <div role="status" className="flex flex-col gap-2">
          <Facts
            facts={[
              ['Verdict', <StatusBadge key="verdict" status={data.verdict} />],
              ['Entries', formatCount(data.entries)],
              ['Runs', `${formatCount(data.runsOpened)} opened, ${formatCount(data.runsClosed)} closed`],
            ]}
          />
          <Lines title="Missing" lines={data.missing} bad />
          <Lines title="Problems" lines={data.problems.map(tellFlaw)} bad />
        </div>
      )}
    </Card>
  )
}

function Checkpoints() {
  const checkpoints = useQuery({
    queryKey: ['audit', 'checkpoints'],
    queryFn: ({ signal }) => ask('GET /audit/checkpoints', { query: { limit: 5 }, signal }),
  })
  const [shown, setShown] = useState<Record<string, unknown> | null>(null)
  return (
    <Card title="Checkpoints">
      <Loaded query={checkpoints} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="text-sm text-muted">
              None yet. A signed checkpoint is written as runs end and approvals are given; keep one elsewhere
              to prove what came before it.
            </p>
          ) : (
            <ul className="flex flex-col gap-1 text-sm">
              {items.map((checkpoint, index) => (
                <li key={index}>
                  <button
                    type="button"
                    className="w-full truncate rounded-sm text-left font-mono text-xs hover:text-accent hover:underline"
                    onClick={() => setShown(checkpoint)}
                  >
                    {tellCheckpoint(checkpoint)}
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {shown !== null && (
        <Dialog open wide onOpenChange={(open) => !open && setShown(null)} title="Checkpoint">
          <JsonBlock value={shown} label="Checkpoint" />
        </Dialog>
      )}
    </Card>
  )
}

/** When it was signed, and how far the chain of the tenant had come. */
function tellCheckpoint({ at, heads }: Record<string, unknown>): string {
  const moment = typeof at === 'number' ? new Date(at).toLocaleString() : String(at)
  const head = Array.isArray(heads)
    ? heads.find(({ chain }) => String(chain).startsWith('tenant:'))
    : undefined
  return head === undefined ? moment : `up to entry ${head.seq}, ${moment}`
}

function Archive({ search }: { search: Search }) {
  const range = new URLSearchParams(dayRange(search)).toString()
  return (
    <Card title="For auditors">
      <p className="mb-2 text-sm text-muted">
        The records of{' '}
        {search.from === undefined && search.to === undefined ? 'all runs' : 'the runs of the chosen time'} as
        an archive that <code>lockstep verify</code> checks anywhere.
      </p>
      <DownloadLink path={`/audit/export${range === '' ? '' : `?${range}`}`}>
        Download the archive
      </DownloadLink>
    </Card>
  )
}

/** The chosen days, whole and in the time of whoever looks, as moments. */
function dayRange({ from, to }: Search): { from?: string; to?: string } {
  const [start, end] = [momentOf(from, '00:00:00.000'), momentOf(to, '23:59:59.999')]
  return { ...(start === undefined ? {} : { from: start }), ...(end === undefined ? {} : { to: end }) }
}

function momentOf(day: string | undefined, time: string): string | undefined {
  const date = new Date(`${day ?? ''}T${time}`)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function Filters({ search, onChange }: { search: Search; onChange: (search: Search) => void }) {
  const [typed, setTyped] = useState(search)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onChange(Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== '')))
  }
  const field = (name: keyof Search, label: string, type = 'search') => (
    <TextField
      label={label}
      type={type}
      value={typed[name] ?? ''}
      onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
    />
  )
  return (
    <form onSubmit={submit} className="mb-3 grid grid-cols-2 items-end gap-2 md:flex md:flex-wrap">
      {field('search', 'Search')}
      {field('type', 'What')}
      {field('by', 'By')}
      {field('from', 'From', 'date')}
      {field('to', 'To', 'date')}
      <Button type="submit" icon="search">
        Search
      </Button>
      {Object.keys(search).length > 0 && (
        <Button look="quiet" onClick={() => onChange({})}>
          Clear
        </Button>
      )}
    </form>
  )
}
