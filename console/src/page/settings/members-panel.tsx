import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { roles, type Role } from '../../../../src/api/permission.ts'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Card } from '../../component/card.tsx'
import { Select, TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay, useMe } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

type User = ItemOf<'GET /users'>
type Binding = ItemOf<'GET /role-bindings'>
const stale = [['users'], ['bindings'], ['me']] as const

/** The people of the tenant, and who has which role where. */
export function MembersPanel() {
  const mayWrite = useMay('member:write')
  const me = useMe()
  const [link, setLink] = useState<string | null>(null)
  const users = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => ask('GET /users', { query: { limit: 200 }, signal }),
  })
  const change = useChange(
    ({ id, disabled }: { id: string; disabled: boolean }) =>
      ask('PATCH /users/{id}', { params: { id }, body: { disabled } }),
    { said: 'Saved.', stale },
  )
  const invite = useChange((id: string) => ask('POST /users/{id}/links', { params: { id } }), {
    stale,
    done: (made) => setLink(made.link),
  })
  const columns: readonly Column<User>[] = [
    {
      id: 'name',
      label: 'Person',
      sortBy: ({ name }) => name,
      cell: ({ name, email, disabled }) => (
        <span>
          {name} <span className="text-muted">{email}</span>{' '}
          {disabled && <Badge tone="still">disabled</Badge>}
        </span>
      ),
    },
    {
      id: 'ways',
      label: 'Signs in by',
      wide: true,
      cell: ({ hasPassword, passkeys }) =>
        [...(hasPassword ? ['password'] : []), ...(passkeys > 0 ? ['passkey'] : []), 'one-time link'].join(
          ', ',
        ),
    },
    {
      id: 'acts',
      label: 'Change',
      align: 'end',
      cell: ({ id, name, disabled }) =>
        mayWrite ? (
          <span className="inline-flex gap-1">
            <Button
              small
              look="quiet"
              busy={invite.isPending}
              disabled={disabled}
              onClick={() => invite.mutate(id)}
            >
              One-time link
            </Button>
            <ConfirmButton
              label={disabled ? 'Enable' : 'Disable'}
              title={`${disabled ? 'Enable' : 'Disable'} ${name}?`}
              about={
                disabled
                  ? 'They can sign in again.'
                  : id === me.id
                    ? 'That is you: you are signed out at once.'
                    : 'They are signed out at once, and cannot sign in.'
              }
              busy={change.isPending}
              onConfirm={() => change.mutate({ id, disabled: !disabled })}
            />
          </span>
        ) : null,
    },
  ]
  return (
    <div className="flex flex-col gap-4">
      {mayWrite && <NewMember onMade={setLink} />}
      {(change.error ?? invite.error) !== null && <Problem error={change.error ?? invite.error} />}
      <Loaded query={users} lines={3}>
        {({ items }) => (
          <>
            <Table label="People" rows={items} columns={columns} keyOf={({ id }) => id} />
            <Roles users={items} />
          </>
        )}
      </Loaded>
      {link !== null && (
        <ShownOnce
          title="A one-time link"
          about="Whoever opens it first is signed in. Send it only to whom it is for."
          value={link}
          onDone={() => setLink(null)}
        />
      )}
    </div>
  )
}

function NewMember({ onMade }: { onMade: (link: string) => void }) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('Viewer')
  const add = useChange(() => ask('POST /users', { body: { email, name, role } }), {
    stale,
    done: ({ link }) => {
      setEmail('')
      setName('')
      onMade(link)
    },
  })
  return (
    <form
      className="flex flex-wrap items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        add.mutate(undefined)
      }}
    >
      <div className="w-60">
        <TextField
          label="E-mail"
          type="email"
          value={email}
          required
          onChange={(event) => setEmail(event.target.value)}
        />
      </div>
      <div className="w-48">
        <TextField
          label="Name"
          value={name}
          required
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <Select
        label="Role"
        value={role}
        onChange={setRole}
        options={roles.map((value) => ({ value, label: value }))}
      />
      <Button type="submit" icon="plus" busy={add.isPending}>
        Add person
      </Button>
      {add.error !== null && <Problem error={add.error} />}
    </form>
  )
}

function Roles({ users }: { users: readonly User[] }) {
  const mayWrite = useMay('member:write')
  const { projects } = useMe()
  const [user, setUser] = useState('')
  const [role, setRole] = useState<Role>('Viewer')
  const [project, setProject] = useState('')
  const query = useQuery({
    queryKey: ['bindings'],
    queryFn: ({ signal }) => ask('GET /role-bindings', { query: { limit: 200 }, signal }),
  })
  const give = useChange(
    () =>
      ask('POST /role-bindings', {
        body: { subject: { kind: 'user', id: user }, role, project: project === '' ? null : project },
      }),
    { said: 'The role is given.', stale },
  )
  const take = useChange((id: string) => ask('DELETE /role-bindings/{id}', { params: { id } }), {
    said: 'The role is taken away.',
    stale,
  })
  const where = (id: string | null) =>
    id === null ? 'whole tenant' : (projects.find((each) => each.id === id)?.name ?? id)
  const columns: readonly Column<Binding>[] = [
    {
      id: 'who',
      label: 'Who',
      sortBy: ({ subject }) => subject.name,
      cell: ({ subject }) => (
        <span>
          {subject.name} {subject.kind === 'apikey' && <Badge tone="still">key</Badge>}
        </span>
      ),
    },
    { id: 'role', label: 'Role', sortBy: (binding) => binding.role, cell: (binding) => binding.role },
    { id: 'where', label: 'Where', cell: (binding) => where(binding.project) },
    {
      id: 'take',
      label: 'Take away',
      align: 'end',
      cell: ({ id, subject, role: given }) =>
        mayWrite ? (
          <ConfirmButton
            label="Take away"
            title={`Take ${given} from ${subject.name}?`}
            about="It counts from the next request."
            busy={take.isPending}
            onConfirm={() => take.mutate(id)}
          />
        ) : null,
    },
  ]
  return (
    <Card title="Roles">
      <div className="flex flex-col gap-3">
        {mayWrite && (
          <form
            className="flex flex-wrap items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              give.mutate(undefined)
            }}
          >
            <Select
              label="Person"
              value={user}
              required
              onChange={setUser}
              options={[
                { value: '', label: 'choose …' },
                ...users.map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
            <Select
              label="Role"
              value={role}
              onChange={setRole}
              options={roles.map((value) => ({ value, label: value }))}
            />
            <Select
              label="Where"
              value={project}
              onChange={setProject}
              options={[
                { value: '', label: 'whole tenant' },
                ...projects.map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
            <Button type="submit" icon="plus" busy={give.isPending} disabled={user === ''}>
              Give role
            </Button>
          </form>
        )}
        {(give.error ?? take.error) !== null && <Problem error={give.error ?? take.error} />}
        <Loaded query={query} lines={3}>
          {({ items }) => <Table label="Roles" rows={items} columns={columns} keyOf={({ id }) => id} />}
        </Loaded>
      </div>
    </Card>
  )
}
