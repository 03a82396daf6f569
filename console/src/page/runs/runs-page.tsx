import { getRouteApi, Link } from '@tanstack/react-router'
import { useState, type SyntheticEvent } from 'react'
import { Button, buttonClass } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { Select, TextField } from '../../component/field.tsx'
import { MoreButton } from '../../component/more-button.tsx'
import { ask } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { usePages } from '../../server/use-pages.ts'
import { Page } from '../../shell/page.tsx'
import { HaltButton } from './halt-button.tsx'
import { RunTable } from './run-table.tsx'

const route = getRouteApi('/shell/runs')
type Search = ReturnType<typeof route.useSearch>

/** Every run, the newest first; what is shown, the address says. */
export function RunsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const filtered = Object.keys(search).length > 0
  const list = usePages(
    ['runs', 'list', search],
    (cursor, signal) =>
      ask('GET /runs', {
        query: { ...(search as object), ...(cursor === undefined ? {} : { cursor }) },
        signal,
      }),
    { refetchInterval: 5000 },
  )
  return (
    <Page
      title="Runs"
      actions={
        <>
          <HaltButton />
          <Link to="/playbooks" className={buttonClass('main')}>
            Start a run
          </Link>
        </>
      }
    >
      <Filters
        key={search.search ?? ''}
        search={search}
        onChange={(next) => void navigate({ search: next, replace: true })}
      />
      <Loaded query={list} lines={8}>
        {(runs) =>
          runs.length === 0 ? (
            <Empty icon="run" title={filtered ? 'No run fits this' : 'No runs yet'}>
              {filtered
                ? 'Take a filter away to see more.'
                : 'Choose a playbook and start it: a dry run changes nothing.'}
            </Empty>
          ) : (
            <>
              <RunTable runs={runs} />
              <MoreButton list={list} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

const statuses = [
  'running',
  'waiting',
  'paused',
  'succeeded',
  'incomplete',
  'failed',
  'cancelled',
  'unreadable',
] as const

function Filters({ search, onChange }: { search: Search; onChange: (search: Search) => void }) {
  const [text, setText] = useState(search.search ?? '')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    onChange({ ...search, search: text })
  }
  return (
    <form onSubmit={submit} className="mb-3 flex flex-wrap items-end gap-2">
      <div className="w-56 grow sm:grow-0">
        <TextField
          label="Search"
          hideLabel
          type="search"
          placeholder="Playbook, run, person …"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <Select
        label="Status"
        hideLabel
        value={search.status ?? ''}
        onChange={(status) => onChange({ ...search, status })}
        options={[
          { value: '', label: 'Any status' },
          ...statuses.map((status) => ({ value: status, label: status })),
        ]}
      />
      <Select
        label="Mode"
        hideLabel
        value={search.mode ?? ''}
        onChange={(mode) => onChange({ ...search, mode })}
        options={[
          { value: '', label: 'Any mode' },
          { value: 'execute', label: 'execute' },
          { value: 'dry-run', label: 'dry run' },
        ]}
      />
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
