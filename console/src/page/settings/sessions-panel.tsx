import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../component/badge.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Session = ItemOf<'GET /me/sessions'>

/** Where I am signed in. */
export function SessionsPanel() {
  const query = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => ask('GET /me/sessions', { signal }),
  })
  const end = useChange((id: string) => ask('DELETE /me/sessions/{id}', { params: { id } }), {
    said: 'The session has ended.',
    stale: [['sessions']],
  })
  const columns: readonly Column<Session>[] = [
    {
      id: 'agent',
      label: 'Browser',
      cell: ({ agent, current }) => (
        <span>
          {agent === '' ? 'unknown' : agent} {current && <Badge tone="accent">this one</Badge>}
        </span>
      ),
    },
    { id: 'how', label: 'Signed in by', cell: ({ how }) => how },
    { id: 'since', label: 'Since', cell: ({ since }) => <Time at={since} /> },
    { id: 'until', label: 'Until', wide: true, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    {
      id: 'end',
      label: 'End',
      align: 'end',
      cell: ({ id, current }) => (
        <ConfirmButton
          label="End"
          title="End this session?"
          about={current ? 'You are signed out here.' : 'Whoever uses it is signed out.'}
          busy={end.isPending}
          onConfirm={() => end.mutate(id)}
        />
      ),
    },
  ]
  return (
    <>
      {end.error !== null && <Problem error={end.error} />}
      <Loaded query={query} lines={3}>
        {({ items }) => <Table label="Sessions" rows={items} columns={columns} keyOf={({ id }) => id} />}
      </Loaded>
    </>
  )
}
