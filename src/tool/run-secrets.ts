/**
 * The secrets of one run: put into the arguments of a call when it is sent, and taken out of all that comes back.
 *
 * Owns: what was found for this run in this process, which is kept nowhere else.
 * Talks to: whoever finds secrets, by the name and the reference that the playbook gives.
 *
 * Invariants
 * S1  A secret is put at the places that the playbook's own template has for it, where its handle stands, and nowhere else (G19).
 * S2  A call that lacks a secret, or that does not fit its tool with it, is not made. No message holds a secret.
 * S3  Everything that a call gives back is masked before anybody sees it, whichever call it is.
 * S4  A dry run finds no secret.
 */
import type { Playbook } from '../playbook/playbook.ts'
import { type PlacedSecret, secretHandle } from '../playbook/secret-reference.ts'
import { secretPlaces } from '../run/secret-places.ts'
import type { RunState } from '../run/state.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { SecretMask, shortestSecret } from '../shared/secret-mask.ts'
import { shortText } from '../shared/short-text.ts'
import { withLimits } from './run-tool.ts'
import type { SecretResolver } from './secret-resolver.ts'
import type { Tool } from './tool.ts'

/** The arguments as they are sent, or why the call cannot be made. */
export type Sent =
  | { readonly args: JsonObject; readonly problem: null }
  | { readonly args: null; readonly problem: string }

/** Seconds that finding a secret may take. */
const mostSeconds = 30

/** Finds, puts in and masks the secrets of one run. */
export class RunSecrets {
  readonly #declared: Playbook['secrets']
  readonly #resolve: SecretResolver | null
  readonly #mask = new SecretMask()
  #learned: Promise<unknown> | null = null

  /** Where nobody finds secrets, every call that needs one says so. */
  constructor(declared: Playbook['secrets'], resolve: SecretResolver | null) {
    this.#declared = declared
    this.#resolve = resolve
  }

  /** The arguments of an admitted call with its secrets in their places. Never throws (S2). */
  async put(
    state: RunState,
    callId: string,
    args: JsonObject,
    tool: Tool | null,
    signal?: AbortSignal,
  ): Promise<Sent> {
    if (state.mode === 'dry-run') return { args, problem: null }
    const places = secretPlaces(state, callId)
    const needed = new Set(places.map(({ name }) => name))
    // A run that is taken up may read what it wrote before: all its secrets are masked from its first call on (S3).
    this.#learned ??= this.#learn(Object.keys(this.#declared).filter((name) => !needed.has(name)))
    await this.#learned
    if (needed.size === 0) return { args, problem: null }
    if (tool?.tellsModel === true)
      return refuse(`'${tool.name}' tells a model what it is given, and a model is told no secret`)
    try {
      const found = new Map<string, string>()
      for (const name of needed) found.set(name, await this.#find(name, signal))
      const filled = places.reduce<Json>((value, place) => putAt(value, place, 0, found), args) as JsonObject
      const names = [...needed].map((name) => `'${name}'`).join(', ')
      // What exactly does not fit might quote the secret.
      return (tool?.checkArguments(filled) ?? []).length === 0
        ? { args: filled, problem: null }
        : refuse(`with the secret ${names} in its place the arguments do not fit '${tool!.name}'`)
    } catch (error) {
      return refuse(this.maskText(messageOf(error)))
    }
  }

  /** What a call gave back, without secrets. */
  maskJson<Value extends Json | undefined>(value: Value): Value {
    return value === undefined ? value : (this.#mask.maskJson(value) as Value)
  }

  /** What went wrong, without secrets. */
  maskText(text: string): string {
    return this.#mask.maskText(text)
  }

  async #learn(names: readonly string[]): Promise<void> {
    // One that is not to be had is told of by the call that needs it.
    await Promise.all(names.map((name) => this.#find(name).catch(() => undefined)))
  }

  async #find(name: string, signal?: AbortSignal): Promise<string> {
    const resolve = this.#resolve
    if (resolve === null) throw new Error(`the secret '${name}' cannot be had: nothing here finds secrets`)
    const reference = this.#declared[name]!
    let value: unknown
    try {
      const limits = { seconds: mostSeconds, signal }
      value = await withLimits(limits, () => resolve(name, reference))
    } catch (error) {
      const hint = LockstepError.isInstance(error) && error.hint !== null ? ` (${error.hint})` : ''
      throw new Error(`the secret '${name}' cannot be had: ${shortText(messageOf(error))}${hint}`, {
        cause: error,
      })
    }
    if (typeof value !== 'string' || value.length < shortestSecret)
      throw new Error(
        `the secret '${name}' cannot be had: it is no text of ${shortestSecret} characters or more`,
      )
    this.#mask.learn(value)
    return value
  }
}

function refuse(problem: string): Sent {
  return { args: null, problem }
}

/** A copy with the secret at its place, where its handle must stand (S1). */
function putAt(
  value: Json | undefined,
  place: PlacedSecret,
  depth: number,
  found: ReadonlyMap<string, string>,
): Json {
  const { path, name } = place
  if (depth === path.length) {
    if (value !== secretHandle(name)) throw new Error(`the secret '${name}' has no place in this call`)
    return found.get(name)!
  }
  const key = path[depth]!
  const inside = (each: Json) => putAt(each, place, depth + 1, found)
  if (Array.isArray(value)) return value.map((each: Json, index) => (index === key ? inside(each) : each))
  const entries = Object.entries((value ?? {}) as JsonObject)
  return Object.fromEntries(entries.map(([name_, each]) => [name_, name_ === key ? inside(each) : each]))
}
