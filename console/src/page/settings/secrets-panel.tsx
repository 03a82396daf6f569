import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Secret = ItemOf<'GET /secrets'>
const stale = [['secrets']] as const

/** The secrets that playbooks name as `store:NAME`. They can be written, and never read again. */
export function SecretsPanel() {
  const mayWrite = useMay('secret:write')
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const query = useQuery({ queryKey: ['secrets'], queryFn: ({ signal }) => ask('GET /secrets', { signal }) })
  const keep = useChange(() => ask('PUT /secrets/{id}', { params: { id: name }, body: { value } }), {
    said: 'The secret is kept.',
    stale,
    done: () => {
      setName('')
      setValue('')
    },
  })
  const forget = useChange((id: string) => ask('DELETE /secrets/{id}', { params: { id } }), {
    said: 'The secret is forgotten.',
    stale,
  })
  const columns: readonly Column<Secret>[] = [
    {
      id: 'name',
      label: 'Secret',
      sortBy: (secret) => secret.name,
      cell: (secret) => <code>store:{secret.name}</code>,
    },
    {
      id: 'forget',
      label: 'Forget',
      align: 'end',
      cell: (secret) =>
        mayWrite ? (
          <ConfirmButton
            label="Forget"
            title={`Forget ${secret.name}?`}
            about="Runs that need it stop until it is there again."
            busy={forget.isPending}
            onConfirm={() => forget.mutate(secret.name)}
          />
        ) : null,
    },
  ]
  return (
    <div className="flex flex-col gap-3">
      {mayWrite && (
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            keep.mutate(undefined)
          }}
        >
          <div className="w-56">
            <TextField
              label="Name"
              value={name}
              required
              autoComplete="off"
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <div className="w-72">
            <TextField
              label="Value"
              type="password"
              autoComplete="new-password"
              value={value}
              required
              onChange={(event) => setValue(event.target.value)}
            />
          </div>
          <Button type="submit" icon="key" busy={keep.isPending}>
            Keep secret
          </Button>
        </form>
      )}
      {(keep.error ?? forget.error) !== null && <Problem error={keep.error ?? forget.error} />}
      <Loaded query={query} lines={3}>
        {({ items }) => (
          <Table
            label="Secrets"
            rows={items}
            columns={columns}
            keyOf={(secret) => secret.name}
            empty={
              <Empty icon="key" title="No secrets are kept">
                A playbook names one as store:NAME, and the gateway puts it into the call and nowhere else.
              </Empty>
            }
          />
        )}
      </Loaded>
    </div>
  )
}
