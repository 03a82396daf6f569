import type { Past } from '../playbook/condition-scope.ts'
import type { JsonObject } from '../shared/json.ts'

/** What a call can do to the world. */
export const risks = ['read', 'write', 'irreversible'] as const

export type Risk = (typeof risks)[number]

/** How it was established who somebody is; `asserted` means that nobody checked. */
export const identityKinds = ['local', 'apikey', 'oidc', 'asserted'] as const

export type IdentityKind = (typeof identityKinds)[number]

/** Whether calls reach outside. */
export const policyModes = ['dry-run', 'execute'] as const

export type PolicyMode = (typeof policyModes)[number]

/** One call, as it would be sent: the final tool and the canonical arguments. */
export interface PolicyRequest {
  readonly tool: string
  readonly args: JsonObject | null
  /** The step the call belongs to; null for an extra that belongs to none. */
  readonly step: string | null
  /** As the tool declares it; undeclared counts as irreversible. */
  readonly risk?: Risk | null | undefined
  /** What the call acts on, as the tool's `target` says; null where it does not say. */
  readonly target: string | null
  /** The call undoes what the run did: limits and budgets keep silent, so that nothing stays half done for want of a place. */
  readonly undoes?: boolean | undefined
  /** The arguments whose values nobody knows yet, of a call that is only shown: what depends on them is not decided. */
  readonly unknown?: readonly string[] | undefined
}

/** Who asks for the call, and what they may act as. */
export interface Principal {
  readonly id: string
  readonly kind: IdentityKind
  readonly roles: readonly string[]
}

/** The past of the run, with the questions it can answer: any other question is an error, and so a denial. */
export interface PolicyPast extends Past {
  readonly shapes: ReadonlySet<string>
}

/** What was counted for one limit, without the call that is asked about. */
export interface Counter {
  /** Calls in the time that had, or may have had, an effect. */
  readonly calls: number
  /** Different targets among them. */
  readonly targets: number
  /** Whether the target of this call is one of those. */
  readonly seen: boolean
}

/** What has been spent, reserved amounts included. */
export interface Spent {
  readonly cost_usd: number
  readonly tokens: number
  readonly calls: number
  readonly minutes: number
}

/** What a policy cannot know by itself; recorded with the decision it served. */
export interface PolicyFacts {
  /** Milliseconds since 1970, UTC. */
  readonly now: number
  readonly principal: Principal
  readonly mode: PolicyMode
  readonly inputs: JsonObject
  readonly context: JsonObject
  /** Null where the past is not known: then whatever asks about it denies. */
  readonly past: PolicyPast | null
  /** By `CounterQuery.key`; a limit without its counter denies. */
  readonly counters: Readonly<Record<string, Counter>>
  /** Null where nobody counts, a figure absent where nobody counts that: then a budget on it denies. */
  readonly spent: { readonly run: Partial<Spent>; readonly day: Partial<Spent> } | null
  /** The reason given for breaking the glass; null where nobody does. */
  readonly breakGlass: string | null
}
