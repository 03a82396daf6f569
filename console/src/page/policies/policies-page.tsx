import { getRouteApi, Link } from '@tanstack/react-router'
import { buttonClass } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { Icon } from '../../component/icon.tsx'
import { MoreButton } from '../../component/more-button.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Tabs } from '../../component/tabs.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { usePages } from '../../server/use-pages.ts'
import { Page } from '../../shell/page.tsx'
import { Version } from '../playbooks/playbooks-page.tsx'
import { ExplainPanel } from './explain-panel.tsx'

const route = getRouteApi('/shell/policies')
type PolicyCard = ItemOf<'GET /policies'>

const scopes = { tenant: 'every run', project: 'runs of its project', runbook: 'one playbook' } as const

const columns: readonly Column<PolicyCard>[] = [
  {
    id: 'name',
    label: 'Policy',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/policies/$id" params={{ id }} className="font-medium hover:text-accent hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'scope',
    label: 'Applies to',
    cell: ({ appliesTo, runbook }) =>
      appliesTo === 'runbook' && runbook !== null ? `the playbook ${runbook}` : scopes[appliesTo],
  },
  { id: 'version', label: 'Version', cell: (policy) => <Version of={policy} /> },
  {
    id: 'at',
    label: 'Changed',
    wide: true,
    sortBy: ({ updatedAt }) => updatedAt,
    cell: ({ updatedAt }) => <Time at={updatedAt} />,
  },
  { id: 'by', label: 'By', wide: true, cell: ({ updatedBy }) => updatedBy },
]

/** The policies that calls stand under, and what they say to a call. */
export function PoliciesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useMay('policy:write')
  const tab = search.tab === 'why' ? 'why' : 'list'
  return (
    <Page
      title="Policies"
      note="Every call is put to all policies that apply. One that denies is enough; one that wants approval stands above those that allow."
      actions={
        mayWrite ? (
          <Link to="/policies/new" className={buttonClass('main')}>
            <Icon name="plus" className="size-4" />
            New policy
          </Link>
        ) : undefined
      }
    >
      <Tabs
        label="Policies"
        value={tab}
        onChange={(next) => void navigate({ search: next === 'list' ? {} : { tab: next }, replace: true })}
        tabs={[
          { value: 'list', label: 'Policies', content: <List /> },
          { value: 'why', label: 'Why was this denied?', content: <ExplainPanel /> },
        ]}
      />
    </Page>
  )
}

function List() {
  const list = usePages(['policies', 'list'], (cursor, signal) =>
    ask('GET /policies', { query: cursor === undefined ? {} : { cursor }, signal }),
  )
  return (
    <Loaded query={list} lines={4}>
      {(policies) =>
        policies.length === 0 ? (
          <Empty icon="policy" title="No policies yet">
            Without one, calls that cannot be undone wait for approval, and every other call of a runbook is
            allowed.
          </Empty>
        ) : (
          <>
            <Table label="Policies" rows={policies} columns={columns} keyOf={({ id }) => id} />
            <MoreButton list={list} />
          </>
        )
      }
    </Loaded>
  )
}
