/**
 * Takes an event of another system, and begins a run.
 *
 * Invariants
 * H1  Nothing is said about a hook to who does not hold its secret, and nothing is written down.
 * H2  The same event begins one run, however often it is told of: its name is made of the event. What was signed once is one event, whatever name comes with it.
 * H3  Either every event of a request can be understood, or none begins anything; what could not be is in the record of the tenant.
 */
import type { FastifyRequest } from 'fastify'
import type { IncomingHook } from '../directory/state.ts'
import type { Platform } from '../platform/platform.ts'
import { personsOf } from '../platform/starter.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import {
  checkSender,
  mapEvent,
  readEvents,
  runOfEvent,
  signedDigest,
  type HookRequest,
} from '../webhook/incoming.ts'
import type { SignatureBook } from '../webhook/signature-book.ts'
import { RequestError } from './problem.ts'

const mostEvents = 200

interface Begun {
  readonly runs: string[]
  readonly duplicates: number
  readonly ignored: number
}

/** Answers a request to the address of a hook. Throws `not_found`, `unauthenticated`, and `invalid_request` for what cannot be understood. */
export async function receiveHook(
  platform: Platform,
  signatures: SignatureBook,
  {
    params,
    body,
    request,
  }: { readonly params: { readonly id: string }; readonly body: unknown; readonly request: FastifyRequest },
): Promise<Begun> {
  const { directory } = platform
  const known = directory.hooks.find(params.id)
  const secret = directory.hooks.secret(params.id)
  if (known === null || secret === null || !known.hook.active)
    throw new RequestError('not_found', 'There is no such hook.')
  const { tenant, hook } = known
  const given: HookRequest = { headers: request.headers, raw: request.rawBody, body: body as Json }
  const wrong = checkSender(hook.kind, given, secret, platform.now())
  if (wrong !== null) throw new RequestError('unauthenticated', `Not begun: ${wrong}.`)
  const wanted = readWanted(hook, given)
  if ('errors' in wanted) return await refuse(platform, tenant, hook, wanted.errors)
  const signed = signedDigest(hook.kind, given)
  if (signed === null) return await beginAll(platform, tenant, hook, wanted)
  const runs = wanted.runs.map((each) => ({ ...each, key: signatures.eventOf(hook.id, signed, each.key) }))
  return await beginAll(platform, tenant, hook, { ...wanted, runs })
}

type Wanted = {
  readonly runs: readonly { readonly key: string; readonly inputs: JsonObject }[]
  readonly ignored: number
}
type Errors = readonly { readonly path: string; readonly message: string }[]

function readWanted(hook: IncomingHook, request: HookRequest): Wanted | { readonly errors: Errors } {
  const events = readEvents(hook.kind, request)
  if (typeof events === 'string') return { errors: [{ path: 'body', message: events }] }
  if (events.length > mostEvents)
    return { errors: [{ path: 'body', message: `tells of more than ${mostEvents} events` }] }
  const runs: { key: string; inputs: JsonObject }[] = []
  const errors: { path: string; message: string }[] = []
  let ignored = 0
  for (const { key, body } of events) {
    const mapped = mapEvent(hook, body)
    if ('errors' in mapped) errors.push(...mapped.errors)
    else if ('ignored' in mapped) ignored++
    else runs.push({ key, inputs: mapped.inputs })
  }
  return errors.length > 0 ? { errors } : { runs, ignored }
}

async function beginAll(
  platform: Platform,
  tenant: string,
  hook: IncomingHook,
  { runs, ignored }: Wanted,
): Promise<Begun> {
  const { texts, directory, desk } = platform
  const runbook = await texts.runbook(tenant, hook.runbook)
  if (runbook === null || runbook.archived)
    return await refuse(platform, tenant, hook, [
      { path: 'runbook', message: 'the playbook is no more, or was put away' },
    ])
  const { version } = runbook.versions.at(-1)!
  const playbook = await texts.open(tenant, runbook, version)
  const begun: string[] = []
  let duplicates = 0
  for (const { key, inputs } of runs) {
    try {
      const run = await desk.begin({
        tenant,
        project: runbook.project,
        by: {
          actor: `hook:${hook.id}`,
          kind: 'apikey',
          roles: [],
          persons: personsOf(directory, tenant, `hook:${hook.id}`),
        },
        playbook,
        runbook: { id: runbook.id, name: runbook.name, version },
        mode: hook.mode,
        inputs,
        context: { hook: hook.id, event: key },
        model: null,
        prompt: null,
        name: runOfEvent(hook.id, key),
      })
      begun.push(run)
    } catch (error) {
      if (!LockstepError.isInstance(error)) throw error
      if (error.code === 'run_exists' || error.code === 'run_in_progress') duplicates++
      else if (error.code === 'invalid_input')
        return await refuse(platform, tenant, hook, [{ path: 'inputs', message: error.message }])
      else throw error
    }
  }
  return { runs: begun, duplicates, ignored }
}

/** H3: says what was wrong, and writes it down. */
async function refuse(
  platform: Platform,
  tenant: string,
  hook: IncomingHook,
  errors: Errors,
): Promise<never> {
  const data = {
    id: hook.id,
    errors: errors.slice(0, 20).map(({ path, message }) => ({ path, message: message.slice(0, 300) })),
  }
  const author = { tenant, principal: `hook:${hook.id}` }
  await platform.store.administer([{ type: 'hook.refused', at: platform.now(), data }], author)
  const [first] = errors
  throw new RequestError('invalid_request', `${first!.path}: ${first!.message}`, { errors: [...errors] })
}
