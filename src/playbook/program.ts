/**
 * A procedure as a tree: what Markdown playbooks and runbooks are read into.
 *
 * It is plain data. Expressions are kept as written, in the template profile with `$name` allowed; `compile-program.ts` makes
 * closures of them. Nothing in it is code.
 */
import type { Json, JsonObject } from '../shared/json.ts'

/** What a value may be declared to be. */
export type ValueType = 'any' | 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict'

/** A program: one or more agents, each with playbooks. The first playbook that begins by itself, else the first of all, is the entry. */
export interface Program {
  readonly name: string
  readonly agents: readonly ProgramAgent[]
  /** The tools that front matter gives to natural-language steps. */
  readonly tools: readonly string[]
  /** The most turns a loop without a bound of its own takes. */
  readonly maxTurns: number
  /** The most requests to a model that a run may make; null for no limit of the program's own. */
  readonly maxModelCalls: number | null
  /** What front matter says besides. */
  readonly metadata: JsonObject
}

/** Someone who plays a part in a program. */
export interface ProgramAgent {
  readonly name: string
  readonly kind: 'ai' | 'human'
  /** A template: `{expression}` is filled in when a playbook of the agent begins. */
  readonly description: Computation
  readonly metadata: JsonObject
  readonly playbooks: readonly Procedure[]
}

/** One playbook of a program. */
export interface Procedure {
  /** Unique in the program and ASCII: step ids begin with it. */
  readonly id: string
  /** The name as written in the heading. */
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly returns: ValueType | null
  /** `steps` run as written; `react` is a bounded agent; `raw` is one question to a model; `host` is a function that the host supplies. */
  readonly mode: 'steps' | 'react' | 'raw' | 'host'
  readonly public: boolean
  readonly description: Computation
  readonly triggers: readonly Trigger[]
  readonly steps: readonly Step[]
  readonly notes: readonly Note[]
  /** The tools that its natural-language steps may use besides those they name. */
  readonly tools: readonly string[]
  readonly metadata: JsonObject
  readonly line: number
}

export interface Parameter {
  readonly name: string
  readonly type: ValueType
  /** Absent where a caller must give it. */
  readonly default?: Json
}

/**
 * A value worked out without a model: first the calls, in order, then the expression, which reads their results as `call_1`,
 * `call_2` and so on. The arguments of a call may read the calls before it. `form` says how the source is to be read: a template
 * with placeholders, or one expression.
 */
export interface Computation {
  readonly form: 'expression' | 'template'
  readonly source: string
  readonly calls: readonly Call[]
}

/** A call of a tool or a playbook. */
export interface Call {
  /** `Agent.Playbook` where another agent's is meant; the id of a playbook, or the name of a tool. */
  readonly target:
    | { readonly kind: 'playbook'; readonly id: string }
    | { readonly kind: 'tool'; readonly name: string }
  /** By position; each is one expression. For a tool they are matched to its declared properties in their order. */
  readonly positional: readonly string[]
  readonly named: { readonly [parameter: string]: string }
}

/** Where a value is put. `local` is known to one call of the playbook; `state` to the agent for the whole run. */
export interface Target {
  readonly name: string
  readonly scope: 'local' | 'state'
  readonly type: ValueType
}

/** What decides a branch or a loop: a computation over known values, or a judgement that a model makes. */
export type Condition =
  | { readonly kind: 'computed'; readonly value: Computation }
  | {
      readonly kind: 'judged'
      readonly text: string
      readonly reads: readonly string[]
      /** What can be worked out goes first: a model is asked only where that does not decide by itself. */
      readonly known?: KnownPart
    }

/** The part of a condition that is worked out: with `and` it must hold as well, with `or` it is enough. */
export interface KnownPart {
  readonly operator: 'and' | 'or'
  readonly value: Computation
}

/** Words for a person: written in the playbook, or to be written by a model as instructed. */
export type Words =
  | { readonly kind: 'literal'; readonly value: Computation }
  | { readonly kind: 'written'; readonly instruction: string; readonly reads: readonly string[] }

export type StepKind = Step['kind']

/** One bullet. `id` is the playbook's id and the bullet's number (`Main/2.1`), `text` the bullet as written, on `line`. */
export type Step = { readonly id: string; readonly text: string; readonly line: number } & StepBody

/** What a bullet does, without its place. */
export type StepBody =
  | { readonly kind: 'set'; readonly target: Target; readonly value: Computation }
  | { readonly kind: 'call'; readonly value: Computation; readonly target: Target | null }
  /** Values that a model reads out of what is known: `from` are variables, none means the conversation. */
  | {
      readonly kind: 'extract'
      readonly targets: readonly Target[]
      readonly instruction: string
      readonly from: readonly string[]
    }
  | { readonly kind: 'say'; readonly words: Words }
  /**
   * Asks a person until the targets are known. Without words it asks for the targets by name. `until` says when an answer will do;
   * after `maxTurns` answers that do not, the step fails.
   */
  | {
      readonly kind: 'ask'
      readonly words: Words | null
      readonly targets: readonly Target[]
      readonly until: Condition | null
      readonly maxTurns: number
    }
  | { readonly kind: 'if'; readonly arms: readonly Arm[] }
  | {
      readonly kind: 'loop'
      readonly form: 'while' | 'until'
      readonly condition: Condition
      readonly maxTurns: number
      readonly steps: readonly Step[]
    }
  | {
      readonly kind: 'each'
      readonly item: Target
      readonly over: Computation
      readonly maxTurns: number
      readonly steps: readonly Step[]
    }
  | { readonly kind: 'break' | 'continue' }
  /** The run ends here; `reason` is what its result says, where the bullet gives one. */
  | { readonly kind: 'end'; readonly reason?: string }
  /** The step fails, and nothing after it is done, unless the condition holds. */
  | { readonly kind: 'require'; readonly condition: Condition }
  | { readonly kind: 'return'; readonly value: Computation | null }
  /** A value that a model writes as instructed is returned. */
  | { readonly kind: 'answer'; readonly instruction: string; readonly reads: readonly string[] }
  | {
      readonly kind: 'wait'
      readonly for: { readonly kind: 'message' } | { readonly kind: 'time'; readonly seconds: number }
    }
  /** A model works towards what the bullet says, inside a boundary. */
  | {
      readonly kind: 'act'
      readonly instruction: string
      readonly targets: readonly Target[]
      readonly reads: readonly string[]
      /** The tools it may use; `reads only` keeps it to those that only read, whatever the list says. */
      readonly tools: readonly string[]
      readonly reach: 'named' | 'reads only'
      readonly maxCalls: number
    }

/** A branch: the bullet that opens it, when it is taken (null: otherwise), and what is done then. */
export interface Arm {
  readonly id: string
  readonly text: string
  readonly line: number
  readonly condition: Condition | null
  readonly steps: readonly Step[]
}

/** When a playbook begins without being called. */
export type Trigger = { readonly text: string; readonly line: number } & (
  | { readonly kind: 'begin' | 'end' }
  | { readonly kind: 'time'; readonly seconds: number }
  /** Fires when the condition comes to hold: on the edge, after a variable was written. */
  | { readonly kind: 'state'; readonly value: Computation; readonly reads: readonly string[] }
  /** A model is asked whether what a person said means it. */
  | { readonly kind: 'message' }
  | { readonly kind: 'before' | 'after' | 'fails'; readonly call: Call['target'] }
)

/** Guidance that goes with every question of the playbook; a rule where it says what must come before a call. */
export interface Note {
  readonly text: string
  readonly line: number
  readonly rule: NoteRule | null
}

/** What must be so before a call: another call succeeded or was not made, or a condition holds. `never` refuses the call outright while it does not. */
export type NoteRule = {
  readonly before: Call['target']
  readonly require:
    | { readonly kind: 'succeeded'; readonly call: Call['target'] }
    /** The other call has not been made: neither succeeded, nor under way, nor of unknown outcome. */
    | { readonly kind: 'not called'; readonly call: Call['target'] }
    | { readonly kind: 'holds'; readonly condition: Condition }
}
