import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Card, Facts } from '../../component/card.tsx'
import { TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Time } from '../../component/time.tsx'
import { ask } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMe } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

/** Who I am, and how I sign in. */
export function ProfilePanel() {
  const me = useMe()
  const [name, setName] = useState(me.name)
  const rename = useChange((to: string) => ask('PATCH /me', { body: { name: to } }), {
    said: 'Saved.',
    stale: [['me']],
  })
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Card title="Profile">
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault()
            rename.mutate(name)
          }}
        >
          <TextField
            label="Name"
            value={name}
            required
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <Facts
            facts={[
              ['E-mail', me.email ?? '–'],
              ['Tenant', me.tenant.name],
              [
                'Roles',
                me.roles
                  .map(({ role, project }) =>
                    project === null
                      ? role
                      : `${role} in ${me.projects.find(({ id }) => id === project)?.name ?? project}`,
                  )
                  .join(', ') || 'none',
              ],
              ['Signed in by', me.how],
            ]}
          />
          {rename.error !== null && <Problem error={rename.error} />}
          <div>
            <Button type="submit" busy={rename.isPending} disabled={name.trim() === '' || name === me.name}>
              Save
            </Button>
          </div>
        </form>
      </Card>
      <Password />
      <Passkeys />
    </div>
  )
}

function Password() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const set = useChange(
    () => ask('PUT /me/password', { body: { password, ...(current === '' ? {} : { current }) } }),
    {
      said: 'The password is set. Other sessions have ended.',
      stale: [['me']],
      done: () => {
        setCurrent('')
        setPassword('')
      },
    },
  )
  return (
    <Card title="Password">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          set.mutate(undefined)
        }}
      >
        <TextField
          label="Current password"
          hint="Leave it empty if you have none yet."
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          label="New password"
          hint="At least 12 characters."
          type="password"
          autoComplete="new-password"
          minLength={12}
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {set.error !== null && <Problem error={set.error} />}
        <div>
          <Button type="submit" busy={set.isPending} disabled={password.length < 12}>
            Set password
          </Button>
        </div>
      </form>
    </Card>
  )
}

function Passkeys() {
  const query = useQuery({
    queryKey: ['passkeys'],
    queryFn: ({ signal }) => ask('GET /me/passkeys', { signal }),
  })
  const add = useChange(
    async () => {
      const { startRegistration } = await import('@simplewebauthn/browser')
      const options = await ask('POST /me/passkeys/options')
      const made = await startRegistration({ optionsJSON: options as never })
      return await ask('POST /me/passkeys', { body: made as never })
    },
    { said: 'The passkey is added.', stale: [['passkeys']] },
  )
  const remove = useChange((id: string) => ask('DELETE /me/passkeys/{id}', { params: { id } }), {
    said: 'The passkey is removed.',
    stale: [['passkeys']],
  })
  return (
    <Card title="Passkeys">
      <Loaded query={query} lines={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="mb-3 text-sm text-muted">None yet. A passkey signs you in without a password.</p>
          ) : (
            <ul className="mb-3 flex flex-col gap-1 text-sm">
              {items.map(({ id, name, createdAt }) => (
                <li key={id} className="flex items-center justify-between gap-3">
                  <span>
                    {name}{' '}
                    <span className="text-muted">
                      · <Time at={createdAt} />
                    </span>
                  </span>
                  <ConfirmButton
                    label="Remove"
                    title={`Remove ${name}?`}
                    about="It no longer signs you in."
                    busy={remove.isPending}
                    onConfirm={() => remove.mutate(id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {(add.error ?? remove.error) !== null && <Problem error={add.error ?? remove.error} />}
      <Button icon="key" busy={add.isPending} onClick={() => add.mutate(undefined)}>
        Add a passkey
      </Button>
    </Card>
  )
}
