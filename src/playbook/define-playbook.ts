import type { PlaybookStep, PlaybookStepDefinition } from './playbook-step.ts'
import { Playbook, type PlaybookDefinition } from './playbook.ts'

type StepsOf<T> = T extends { readonly steps: infer Steps extends readonly unknown[] } ? Steps : readonly []

type IdsOf<T> = StepsOf<T>[number] extends infer Step
  ? Step extends { readonly id: infer Id extends string }
    ? Id
    : never
  : never

type AfterOf<Id extends string> =
  | Id
  | readonly AfterOf<Id>[]
  | { readonly any: readonly AfterOf<Id>[] }
  | { readonly all: readonly AfterOf<Id>[] }

type ToolsOf<Step> =
  | (Step extends { readonly expectedTools: readonly (infer Tool extends string)[] } ? Tool : never)
  | (Step extends { readonly tool: infer Tool extends string } ? Tool : never)

/** A generic parameter takes any further key, so unknown ones are refused by name. */
type NoOthers<T, Known> = { readonly [Key in Exclude<keyof T, keyof Known>]: never }

type ArgumentsOf<Step> = Step extends { readonly arguments: infer Arguments }
  ? string extends ToolsOf<Step>
    ? unknown
    : '*' extends ToolsOf<Step>
      ? unknown
      : {
          readonly arguments: {
            readonly [Tool in keyof Arguments]: Tool extends ToolsOf<Step> ? unknown : never
          }
        }
  : unknown

/** What a step may refer to: steps that exist, and arguments of tools it expects. */
type StepReferences<Step, Id extends string> = Step extends PlaybookStep
  ? unknown
  : {
      readonly id: string
      readonly after?: string extends Id ? unknown : AfterOf<Id> | null
    } & ArgumentsOf<Step> &
      NoOthers<Step, PlaybookStepDefinition>

type References<T> = NoOthers<T, PlaybookDefinition> &
  (T extends { readonly steps: infer Steps extends readonly unknown[] }
    ? {
        readonly steps: {
          readonly [Index in keyof Steps]: Steps[Index] & StepReferences<Steps[Index], IdsOf<T>>
        }
      }
    : unknown)

/**
 * Declares a playbook in TypeScript. Step ids in `after` and tool names in `arguments` are checked by the compiler
 * where it knows them; everything is checked when it runs. Throws PlaybookLoadError with every problem.
 */
export function definePlaybook<const T extends PlaybookDefinition>(definition: T & References<T>): Playbook {
  return new Playbook(definition)
}
