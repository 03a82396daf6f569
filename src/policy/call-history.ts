import type { ExpressionValue } from '../expression/expression-value.ts'
import { pastKey, type PastTally } from '../playbook/past-query.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import type { PolicyPast } from './policy-request.ts'

/** An earlier call of the run, as a policy may ask about it. */
export interface PastCall {
  readonly tool: string
  readonly args: JsonObject | null
  readonly outcome: 'succeeded' | 'failed' | 'unknown' | 'open' | 'not_executed'
  readonly result?: Json | undefined
}

/** A past made of a list of calls: it answers exactly the questions that the policies ask. */
export class CallHistory implements PolicyPast {
  readonly shapes: ReadonlySet<string>
  readonly #tallies = new Map<string, PastTally>()

  constructor(calls: readonly PastCall[], policies: readonly CompiledPolicy[]) {
    const questions = policies.flatMap((policy) => [...policy.questions])
    this.shapes = new Set(questions.flatMap(([, indexes]) => indexes.map(({ shape }) => shape)))
    const asked = new Map(
      questions.flatMap(([tool, indexes]) => indexes.map((index) => [index.shape, { tool, index }])),
    )
    for (const { tool, index } of asked.values()) {
      for (const call of calls) {
        if (call.tool === tool) this.#count(index.shape, index.names, call)
      }
    }
  }

  tally(shape: string, key: string): PastTally | undefined {
    return this.#tallies.get(`${shape} ${key}`)
  }

  #count(shape: string, names: readonly string[], { args, outcome, result }: PastCall): void {
    const values: ExpressionValue[] = []
    for (const name of names) {
      if (args === null || !Object.hasOwn(args, name)) return
      values.push(args[name]!)
    }
    const key = `${shape} ${pastKey(values)}`
    const tally = this.#tallies.get(key) ?? { succeeded: 0, failed: 0, open: 0, result: undefined }
    this.#tallies.set(key, tally)
    if (outcome === 'failed') tally.failed++
    if (outcome === 'open' || outcome === 'unknown') tally.open++
    if (outcome !== 'succeeded') return
    tally.succeeded++
    tally.result = result
  }
}
