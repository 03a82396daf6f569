import { compileExpression } from '../expression/compile-expression.ts'
import { ExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import { digest } from '../shared/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { checkBearer, checkPagerDuty, checkSignature, signedBy } from './signature.ts'

/** Who sends: anybody who signs as we do, Alertmanager, or PagerDuty. */
export type HookKind = 'generic' | 'alertmanager' | 'pagerduty'

/** What another system may begin, and how its words become inputs. */
export interface HookMapping {
  readonly kind: HookKind
  /** An expression over `body` for each input. */
  readonly inputs: Readonly<Record<string, string>>
  /** A condition over `body`; null for what is usual for the kind. */
  readonly when: string | null
}

/** A request as it came. */
export interface HookRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Exactly the bytes that were signed. */
  readonly raw: string
  readonly body: Json
}

/** One thing that happened elsewhere; `key` is the same whenever it is told of. */
export interface IncomingEvent {
  readonly key: string
  readonly body: Json
}

/** Why a request does not come from whom it should; null if it does. */
export function checkSender(
  kind: HookKind,
  request: HookRequest,
  secret: string,
  now: number,
): string | null {
  switch (kind) {
    case 'generic':
      return checkSignature(header(request, 'lockstep-signature'), request.raw, secret, now)
    case 'alertmanager':
      return checkBearer(header(request, 'authorization'), secret)
    case 'pagerduty':
      return checkPagerDuty(header(request, 'x-pagerduty-signature'), request.raw, secret)
  }
}

/** The digest of what was signed, where what names the event was not; null where it was, or nothing is signed. */
export function signedDigest(kind: HookKind, request: HookRequest): string | null {
  const given = kind === 'generic' ? header(request, 'lockstep-signature') : null
  const signed = given === null ? null : signedBy(given, request.raw)
  return signed === null ? null : digest(signed)
}

/** The events that a request tells of, or why it tells of none. */
export function readEvents(kind: HookKind, request: HookRequest): readonly IncomingEvent[] | string {
  switch (kind) {
    case 'generic': {
      const key = header(request, 'lockstep-delivery') ?? digest(request.raw)
      return [{ key: key.slice(0, 200), body: request.body }]
    }
    case 'alertmanager':
      return readAlerts(request.body)
    case 'pagerduty': {
      const event = isJsonObject(request.body) ? request.body['event'] : undefined
      const id = event !== undefined && isJsonObject(event) ? event['id'] : undefined
      if (typeof id !== 'string' || id === '')
        return 'the body has no event.id, as a webhook of PagerDuty (v3) has'
      return [{ key: id.slice(0, 200), body: request.body }]
    }
  }
}

/** Alertmanager tells of many alerts at once; each is an event of its own, with what they share beside it as `group`. */
function readAlerts(body: Json): readonly IncomingEvent[] | string {
  const what = 'the body has no alerts, as a webhook of Alertmanager (version 4) has'
  if (!isJsonObject(body) || !Array.isArray(body['alerts'])) return what
  const { alerts, ...group } = body as JsonObject & { alerts: readonly Json[] }
  const events: IncomingEvent[] = []
  for (const alert of alerts) {
    if (!isJsonObject(alert)) return what
    const { fingerprint, startsAt, labels } = alert
    const name = typeof fingerprint === 'string' ? fingerprint : digest(JSON.stringify(labels ?? null))
    events.push({ key: `${name}/${String(startsAt)}`.slice(0, 200), body: { ...alert, group } })
  }
  return events
}

/** What is usual: only what begins is of interest, not what is over. */
const usual: Readonly<Record<HookKind, string | null>> = {
  generic: null,
  alertmanager: 'body.status == "firing"',
  pagerduty: 'body.event.event_type == "incident.triggered"',
}

const names = ['body'] as const

/** Every expression of a mapping that is none, with its place; empty if all are. */
export function checkMapping({
  inputs,
  when,
}: Pick<HookMapping, 'inputs' | 'when'>): { path: string; message: string }[] {
  return [
    ...(when === null ? [] : problems('when', when, 'condition')),
    ...Object.entries(inputs).flatMap(([name, source]) => problems(`inputs.${name}`, source, 'template')),
  ]
}

function problems(
  path: string,
  source: string,
  profile: 'condition' | 'template',
): { path: string; message: string }[] {
  return compileExpression(source, { profile, names }).errors.map(({ message }) => ({ path, message }))
}

/** What an event comes to: inputs of a run, nothing, or why it cannot be told. */
export type Mapped =
  | { readonly inputs: JsonObject }
  | { readonly ignored: true }
  | { readonly errors: readonly { path: string; message: string }[] }

/** Makes inputs of an event. Never throws. */
export function mapEvent({ kind, inputs, when }: HookMapping, body: Json): Mapped {
  const condition = when ?? usual[kind]
  if (condition !== null) {
    const holds = evaluate(condition, body, 'condition')
    if (holds instanceof ExpressionError) return { errors: [{ path: 'when', message: holds.message }] }
    if (holds !== true) return { ignored: true }
  }
  const errors: { path: string; message: string }[] = []
  const given: Record<string, Json> = Object.create(null)
  for (const [name, source] of Object.entries(inputs)) {
    const value = evaluate(source, body, 'template')
    if (value instanceof ExpressionError) errors.push({ path: `inputs.${name}`, message: value.message })
    else given[name] = value as Json
  }
  return errors.length > 0 ? { errors } : { inputs: { ...given } }
}

function evaluate(
  source: string,
  body: Json,
  profile: 'condition' | 'template',
): ExpressionValue | ExpressionError {
  const { expression, errors } = compileExpression<null>(source, { profile, names })
  return expression === null ? errors[0]! : expression.evaluate([body as ExpressionValue], null)
}

/** The name of the run that an event begins: always the same, so that it is begun once. */
export function runOfEvent(hook: string, key: string): string {
  const hex = digest(`${hook}/${key}`).slice('sha256:'.length)
  // A UUID of version 8, as other runs have one of version 4.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function header({ headers }: HookRequest, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' && value !== '' ? value : null
}
