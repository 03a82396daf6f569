import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState, type SyntheticEvent } from 'react'
import { Button } from '../../component/button.tsx'
import { TextField } from '../../component/field.tsx'
import { Icon } from '../../component/icon.tsx'
import { Problem } from '../../component/problem.tsx'
import { ask } from '../../server/ask.ts'
import { Brand } from '../../shell/shell.tsx'
import { safeNext } from './safe-next.ts'

const route = getRouteApi('/sign-in')

/** The token of a one-time link, taken out of the address so that it is not kept in the history. */
const linkToken = new URLSearchParams(location.hash.slice(1)).get('token')
if (linkToken !== null) history.replaceState(history.state, '', location.pathname + location.search)

/** Signs somebody in: by a one-time link, a passkey or a password. */
export function SignInPage() {
  const { next } = route.useSearch()
  // A fresh page, so that nothing is kept of whoever was here before.
  const enter = () => location.replace(safeNext(next))
  useEffect(() => {
    document.title = 'Sign in · Lockstep'
    // A link that is opened where this page is already open changes the address only.
    const again = () => location.hash.includes('token=') && location.reload()
    addEventListener('hashchange', again)
    return () => removeEventListener('hashchange', again)
  }, [])
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-5 px-4 py-10">
      <Brand />
      <div className="rounded-lg border border-line bg-surface p-5">
        <h1 className="mb-3 text-xl font-semibold">Sign in</h1>
        {linkToken === null ? <Ways enter={enter} /> : <ByLink token={linkToken} enter={enter} />}
      </div>
      <p className="text-xs text-muted">
        No account yet? Whoever runs this gateway makes a one-time link for you: <code>lockstep link</code>,
        or Settings → Members.
      </p>
    </main>
  )
}

function ByLink({ token, enter }: { token: string; enter: () => void }) {
  const signIn = useMutation({
    mutationFn: () => ask('POST /auth/link', { body: { token } }),
    onSuccess: enter,
  })
  const { mutate } = signIn
  const asked = useRef(false)
  useEffect(() => {
    // The link counts once: an effect that runs twice would use it up and then fail.
    if (asked.current) return
    asked.current = true
    mutate()
  }, [mutate])
  if (signIn.error === null)
    return (
      <p role="status" className="flex items-center gap-2 text-muted">
        <Icon name="clock" className="breathing size-4" /> Signing in with your one-time link …
      </p>
    )
  return (
    <div className="flex flex-col gap-4">
      <Problem error={signIn.error} />
      <Ways enter={enter} />
    </div>
  )
}

function Ways({ enter }: { enter: () => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const byPassword = useMutation({
    mutationFn: () => ask('POST /auth/password', { body: { email, password } }),
    onSuccess: enter,
  })
  const byPasskey = useMutation({
    mutationFn: async () => {
      const { startAuthentication } = await import('@simplewebauthn/browser')
      const options = await ask('POST /auth/passkey/options')
      const answer = await startAuthentication({ optionsJSON: options as never })
      return await ask('POST /auth/passkey', { body: answer as never })
    },
    onSuccess: enter,
  })
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    byPassword.mutate()
  }
  const error = byPassword.error ?? byPasskey.error
  return (
    <div className="flex flex-col gap-4">
      {error !== null && <Problem error={error} />}
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username webauthn"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button look="main" type="submit" busy={byPassword.isPending}>
          Sign in
        </Button>
      </form>
      <Button icon="key" busy={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
        Sign in with a passkey
      </Button>
    </div>
  )
}
