/** Who sees to it that a step happens as written: the runtime, a model, or a person who is asked. */
export type Mark = 'guaranteed' | 'left to the model' | 'asks a person'

/** Whether a step puts questions to a model: never, only where what a person says is more than a plain value, or always. */
export type ModelNeed = 'never' | 'sometimes' | 'always'

/** What a bullet is in the flow. */
export type StepShape =
  | 'do'
  | 'ask'
  | 'model'
  | 'decide'
  | 'otherwise'
  | 'loop'
  | 'leave'
  | 'next'
  | 'return'
  | 'end'

/** One bullet, read back. */
export interface ExplainedStep {
  readonly id: string
  /** Its number among the bullets of its playbook, `2.1`. */
  readonly number: string
  /** What was understood, as a sentence. */
  readonly sentence: string
  /** The bullet as written, and the line it stands on; null where the playbook is no text. */
  readonly text: string
  readonly line: number | null
  readonly mark: Mark
  readonly needsModel: ModelNeed
  /** The tools it may touch; `reads only` where those that change something are kept from it. */
  readonly tools: readonly string[]
  readonly reach: 'named' | 'reads only'
  /** What the tools can do at worst, by their names, where that is known. */
  readonly risks?: Readonly<Record<string, 'read' | 'write' | 'irreversible'>>
  /** The variables that a model gives a value in it. */
  readonly writes?: readonly string[]
  /** What it comes after, by numbers, where the order is not that of the lines. */
  readonly after?: string
  /** The ids of the playbooks that it runs. */
  readonly runs: readonly string[]
  readonly shape: StepShape
  /** Whether it is reached only when the branch before it was not taken. */
  readonly chained: boolean
  /** Whether what it holds stands on its own line: `If it rains, go home`. */
  readonly inline: boolean
  readonly steps: readonly ExplainedStep[]
}

/** A note: a rule that the gate keeps, or advice that every question to a model carries. */
export interface ExplainedNote {
  readonly text: string
  readonly line: number | null
  readonly kind: 'enforced' | 'advice'
  /** What is enforced, as a sentence; null for advice. */
  readonly rule: string | null
}

/** When a playbook begins by itself. */
export interface ExplainedTrigger {
  readonly text: string
  readonly line: number
  /** When it fires, as a sentence. */
  readonly fires: string
  readonly mark: Mark
}

/** One playbook, read back. */
export interface ExplainedPlaybook {
  readonly id: string
  readonly agent: string | null
  /** The name with its parameters. */
  readonly heading: string
  /** Whether a run begins with it. */
  readonly entry: boolean
  readonly steps: readonly ExplainedStep[]
  readonly notes: readonly ExplainedNote[]
  readonly triggers: readonly ExplainedTrigger[]
}

/** The most calls of a model that something takes. */
export interface ModelCallBound {
  /** Null where there is no bound; `because` says why. */
  readonly most: number | null
  readonly because: readonly string[]
  /** The most that the playbook allows; a run that reaches it fails. Null where it sets no limit. */
  readonly limit: number | null
  /** What comes on top each time something happens. */
  readonly besides: readonly { readonly each: string; readonly most: number | null }[]
}

/** Everything that can be said of a playbook without running it. */
export interface Explanation {
  readonly name: string
  readonly playbooks: readonly ExplainedPlaybook[]
  /** How many bullets there are, and how many of them need no model. */
  readonly steps: { readonly total: number; readonly withoutModel: number }
  readonly modelCalls: ModelCallBound
  readonly flow: FlowGraph
}

/** A place in the flow. */
export interface FlowNode {
  readonly id: string
  readonly playbook: string
  readonly label: string
  readonly shape: 'start' | 'do' | 'ask' | 'model' | 'decide' | 'loop' | 'stop'
}

/** A way from one place to another; `call` leads into another playbook and back. */
export interface FlowEdge {
  readonly from: string
  readonly to: string
  readonly label: string | null
  readonly kind: 'next' | 'call'
}

/** The flow of all playbooks, ready to be drawn. */
export interface FlowGraph {
  readonly nodes: readonly FlowNode[]
  readonly edges: readonly FlowEdge[]
}
