import { z } from 'zod'
import { email, me, session } from './access-shapes.ts'
import { route } from './route.ts'
import { id, object, time, title } from './shape.ts'

const password = z.string().min(12).max(200)
const byId = z.object({ id })
const signedIn = z.object({ next: z.string() })
const auth = { tag: 'sign-in' } as const
const own = { tag: 'me' } as const

/** Signing in and out. */
export const authRoutes = {
  signInByLink: route({
    ...auth,
    method: 'POST',
    path: '/auth/link',
    summary: 'Signs in with a one-time link.',
    access: 'public',
    body: z.object({ token: z.string().max(200) }),
    response: signedIn,
  }),
  signInByPassword: route({
    ...auth,
    method: 'POST',
    path: '/auth/password',
    summary: 'Signs in with a password.',
    access: 'public',
    body: z.object({
      email,
      password: z.string().max(200),
      tenant: z.string().max(100).optional().describe('The tenant of the account, if it is not `local`.'),
    }),
    response: signedIn,
  }),
  passkeyChallenge: route({
    ...auth,
    method: 'POST',
    path: '/auth/passkey/options',
    summary: 'Begins to sign in with a passkey.',
    access: 'public',
    response: object,
  }),
  signInByPasskey: route({
    ...auth,
    method: 'POST',
    path: '/auth/passkey',
    summary: 'Signs in with a passkey.',
    access: 'public',
    body: object,
    response: signedIn,
  }),
  signOut: route({
    ...auth,
    method: 'POST',
    path: '/auth/sign-out',
    summary: 'Ends the session.',
    access: 'signed_in',
    response: null,
    status: 204,
  }),
} as const

/** What everybody may do with their own account. */
export const meRoutes = {
  getMe: route({
    ...own,
    method: 'GET',
    path: '/me',
    summary: 'Who I am, and what I may do.',
    access: 'signed_in',
    response: me,
  }),
  updateMe: route({
    ...own,
    method: 'PATCH',
    path: '/me',
    summary: 'Changes my name.',
    access: 'signed_in',
    body: z.object({ name: title }),
    response: me,
  }),
  setPassword: route({
    ...own,
    method: 'PUT',
    path: '/me/password',
    summary: 'Sets my password; the other sessions end.',
    access: 'signed_in',
    body: z.object({ current: z.string().max(200).optional(), password }),
    response: null,
    status: 204,
  }),
  listSessions: route({
    ...own,
    method: 'GET',
    path: '/me/sessions',
    summary: 'Where I am signed in.',
    access: 'signed_in',
    response: z.object({ items: z.array(session) }),
  }),
  endSession: route({
    ...own,
    method: 'DELETE',
    path: '/me/sessions/{id}',
    summary: 'Ends one of my sessions.',
    access: 'signed_in',
    params: byId,
    response: null,
    status: 204,
  }),
  passkeyOptions: route({
    ...own,
    method: 'POST',
    path: '/me/passkeys/options',
    summary: 'Begins to add a passkey.',
    access: 'signed_in',
    response: object,
  }),
  addPasskey: route({
    ...own,
    method: 'POST',
    path: '/me/passkeys',
    summary: 'Adds a passkey.',
    access: 'signed_in',
    body: object,
    response: z.object({ id: z.string() }),
    status: 201,
  }),
  listPasskeys: route({
    ...own,
    method: 'GET',
    path: '/me/passkeys',
    summary: 'My passkeys.',
    access: 'signed_in',
    response: z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), createdAt: time })) }),
  }),
  removePasskey: route({
    ...own,
    method: 'DELETE',
    path: '/me/passkeys/{id}',
    summary: 'Removes a passkey.',
    access: 'signed_in',
    params: byId,
    response: null,
    status: 204,
  }),
} as const
