import { getRouteApi, Link } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button, buttonClass } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { Checkbox, TextField } from '../../component/field.tsx'
import { Icon } from '../../component/icon.tsx'
import { MoreButton } from '../../component/more-button.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { usePages } from '../../server/use-pages.ts'
import { Page } from '../../shell/page.tsx'

const route = getRouteApi('/shell/playbooks')
type PlaybookCard = ItemOf<'GET /runbooks'>

const columns: readonly Column<PlaybookCard>[] = [
  {
    id: 'name',
    label: 'Playbook',
    sortBy: ({ name }) => name,
    cell: (playbook) => (
      <div className="min-w-0">
        <Link
          to="/playbooks/$id"
          params={{ id: playbook.id }}
          className="font-medium hover:text-accent hover:underline"
        >
          {playbook.name}
        </Link>
        {playbook.archived && (
          <span className="ml-2">
            <Badge tone="still">archived</Badge>
          </span>
        )}
        {playbook.description !== '' && (
          <div className="max-w-2xl truncate text-xs text-muted">{playbook.description}</div>
        )}
      </div>
    ),
  },
  { id: 'format', label: 'Form', wide: true, sortBy: ({ format }) => format, cell: ({ format }) => format },
  { id: 'version', label: 'Version', cell: (playbook) => <Version of={playbook} /> },
  {
    id: 'at',
    label: 'Changed',
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
  },
  {
    id: 'by',
    label: 'By',
    wide: true,
    sortBy: ({ updatedBy }) => updatedBy,
    cell: ({ updatedBy }) => updatedBy,
  },
]

/** A version as a list shows it: its number, or the commit it comes from. */
export function Version({ of }: { of: Pick<PlaybookCard, 'version' | 'origin'> }) {
  if (of.origin.kind === 'console') return <span>{of.version}</span>
  return (
    <span title={of.origin.path}>
      <code>{of.origin.commit?.slice(0, 8) ?? 'no commit'}</code>{' '}
      <span className="text-xs text-muted">Git</span>
    </span>
  )
}

/** Every playbook, in all forms. */
export function PlaybooksPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('runbook:write')
  const list = usePages(['playbooks', 'list', search], (cursor, signal) =>
    ask('GET /runbooks', {
      query: {
        ...(search.search === undefined ? {} : { search: search.search }),
        ...(search.archived === undefined ? {} : { archived: search.archived }),
        ...(cursor === undefined ? {} : { cursor }),
      },
      signal,
    }),
  )
  const write = mayWrite ? (
    <Link to="/playbooks/new" className={buttonClass('main')}>
      <Icon name="plus" className="size-4" />
      New playbook
    </Link>
  ) : undefined
  return (
    <Page title="Playbooks" actions={write}>
      <Filters
        key={search.search ?? ''}
        search={search.search ?? ''}
        archived={search.archived === 'true'}
        onChange={(next) => void navigate({ search: next, replace: true })}
      />
      <Loaded query={list} lines={6}>
        {(playbooks) =>
          playbooks.length === 0 ? (
            <Empty
              icon="playbook"
              title={search.search === undefined ? 'No playbooks yet' : 'No playbook fits this'}
              action={search.search === undefined ? write : undefined}
            >
              {search.search === undefined
                ? 'Write one here, or serve a Git checkout with --from.'
                : 'Search for something else, or clear the search.'}
            </Empty>
          ) : (
            <>
              <Table label="Playbooks" rows={playbooks} columns={columns} keyOf={({ id }) => id} />
              <MoreButton list={list} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

type Filter = { search?: string; archived?: string }

function Filters({
  search,
  archived,
  onChange,
}: {
  search: string
  archived: boolean
  onChange: (filter: Filter) => void
}) {
  const [text, setText] = useState(search)
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onChange(filter(text, archived))
  }
  return (
    <form onSubmit={submit} className="mb-3 flex flex-wrap items-center gap-3">
      <div className="w-64 grow sm:grow-0">
        <TextField
          label="Search"
          hideLabel
          type="search"
          placeholder="Name or description …"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Button type="submit" icon="search">
        Search
      </Button>
      <Checkbox
        label="Show archived"
        checked={archived}
        onChange={(event) => onChange(filter(text, event.target.checked))}
      />
    </form>
  )
}

function filter(search: string, archived: boolean): Filter {
  return { ...(search === '' ? {} : { search }), ...(archived ? { archived: 'true' } : {}) }
}
