import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { roles, type Role } from '../../../../src/api/permission.ts'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { Select, TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

type ApiKey = ItemOf<'GET /apikeys'>
const stale = [['apikeys'], ['bindings']] as const

/** The keys that programs use. */
export function KeysPanel() {
  const mayWrite = useMay('apikey:write')
  const [secret, setSecret] = useState<string | null>(null)
  const query = useQuery({
    queryKey: ['apikeys'],
    queryFn: ({ signal }) => ask('GET /apikeys', { query: { limit: 200 }, signal }),
  })
  const rotate = useChange((id: string) => ask('POST /apikeys/{id}/rotate', { params: { id } }), {
    stale,
    done: (made) => setSecret(made.secret),
  })
  const revoke = useChange((id: string) => ask('DELETE /apikeys/{id}', { params: { id } }), {
    said: 'The key is revoked.',
    stale,
  })
  const columns: readonly Column<ApiKey>[] = [
    {
      id: 'name',
      label: 'Key',
      sortBy: ({ name }) => name,
      cell: ({ name, prefix, active }) => (
        <span>
          {name} <code className="text-xs text-muted">{prefix}…</code>{' '}
          {!active && <Badge tone="still">revoked or expired</Badge>}
        </span>
      ),
    },
    {
      id: 'by',
      label: 'Made',
      wide: true,
      cell: ({ createdAt, createdBy }) => (
        <span>
          {createdBy} · <Time at={createdAt} />
        </span>
      ),
    },
    {
      id: 'used',
      label: 'Last used',
      wide: true,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'not lately' : <Time at={lastUsedAt} />),
    },
    {
      id: 'until',
      label: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
    },
    {
      id: 'acts',
      label: 'Change',
      align: 'end',
      cell: ({ id, name, active }) =>
        mayWrite && active ? (
          <span className="inline-flex gap-1">
            <ConfirmButton
              label="Rotate"
              title={`Make a new secret for ${name}?`}
              about="The old secret counts no more, at once."
              busy={rotate.isPending}
              onConfirm={() => rotate.mutate(id)}
            />
            <ConfirmButton
              label="Revoke"
              title={`Revoke ${name}?`}
              about="Whatever uses it is refused from now on."
              busy={revoke.isPending}
              onConfirm={() => revoke.mutate(id)}
            />
          </span>
        ) : null,
    },
  ]
  return (
    <div className="flex flex-col gap-3">
      {mayWrite && <NewKey onMade={setSecret} />}
      {(rotate.error ?? revoke.error) !== null && <Problem error={rotate.error ?? revoke.error} />}
      <Loaded query={query} lines={3}>
        {({ items }) => (
          <Table
            label="API keys"
            rows={items}
            columns={columns}
            keyOf={({ id }) => id}
            empty={
              <Empty icon="key" title="No API keys">
                Programs sign in with a key. Its secret is shown once, when it is made.
              </Empty>
            }
          />
        )}
      </Loaded>
      {secret !== null && (
        <ShownOnce
          title="The secret of the key"
          about="It is shown this once, and kept nowhere as it is."
          value={secret}
          onDone={() => setSecret(null)}
        />
      )}
    </div>
  )
}

function NewKey({ onMade }: { onMade: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('Viewer')
  const [days, setDays] = useState<'30' | '90' | '365' | 'never'>('90')
  const make = useChange(
    () =>
      ask('POST /apikeys', {
        body: {
          name,
          role,
          expiresAt: days === 'never' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString(),
        },
      }),
    {
      stale,
      done: ({ secret }) => {
        setName('')
        onMade(secret)
      },
    },
  )
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        make.mutate(undefined)
      }}
    >
      <div className="w-56">
        <TextField
          label="Name"
          value={name}
          required
          maxLength={200}
          placeholder="deploy pipeline"
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <Select
        label="Role"
        value={role}
        onChange={setRole}
        options={roles.map((value) => ({ value, label: value }))}
      />
      <Select
        label="Expires"
        value={days}
        onChange={setDays}
        options={[
          { value: '30', label: 'in 30 days' },
          { value: '90', label: 'in 90 days' },
          { value: '365', label: 'in a year' },
          { value: 'never', label: 'never' },
        ]}
      />
      <Button type="submit" icon="plus" busy={make.isPending}>
        Make key
      </Button>
      {make.error !== null && <Problem error={make.error} />}
    </form>
  )
}
