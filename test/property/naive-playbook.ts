/** A playbook in the naive gate's own words, so that it depends on nothing the product works out. */
import type { JsonObject } from '../../src/shared/json.ts'
import type { SchemaTemplate, Template } from './condition-template.ts'

/** What comes before a step. */
export type Before = string | { readonly any: readonly Before[] } | { readonly all: readonly Before[] }

/** A step as the naive gate reads it. */
export interface NaiveStep {
  readonly id: string
  readonly tools: readonly string[]
  readonly star: boolean
  readonly required: boolean
  readonly cap: number | null
  readonly timeout: number | null
  readonly when: Template | null
  readonly before: Before
  readonly completeWhen: 'all' | 'any' | 'declared' | number | Template | null
  readonly onLimit: 'fail' | 'escalate' | 'advance'
  readonly minCalls: number
  readonly keywords: readonly string[]
  readonly resultSchema: SchemaTemplate | null
  readonly expression: Template | null
  readonly arguments: Readonly<Record<string, { schema: SchemaTemplate | null; require: Template | null }>>
}

/** A playbook as the naive gate reads it. */
export interface NaivePlaybook {
  readonly steps: readonly NaiveStep[]
  readonly allowExtra: boolean
  readonly maxExtra: number | null
  readonly maxIterations: number | null
  readonly rules: readonly { readonly tools: RegExp; readonly require: Template }[]
}

/** How a run is begun. */
export interface NaiveOptions {
  readonly inputs: JsonObject
  readonly enforced: boolean
  readonly finishAttempts: number
  /** What each registered tool wants; null where no tools were given. */
  readonly tools: Readonly<Record<string, SchemaTemplate>> | null
}
