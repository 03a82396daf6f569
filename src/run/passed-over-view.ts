import { LazyRecord, type ExpressionValue } from '../expression/expression-value.ts'
import type { RunState } from './state.ts'

/** `steps` as it will be once a call has passed over the optional steps before its own. */
export class PassedOverView extends LazyRecord {
  readonly #state: RunState
  readonly #passed: ReadonlySet<string>

  constructor(state: RunState, passes: readonly number[]) {
    super()
    this.#state = state
    this.#passed = new Set(passes.map((index) => state.compiled.steps[index]!.id))
  }

  override get(key: string): ExpressionValue | undefined {
    const seen = this.#state.stepsView.get(key)
    if (!this.#passed.has(key)) return seen
    return { ...(seen as { readonly [name: string]: ExpressionValue }), status: 'skipped' }
  }

  override keys(): readonly string[] {
    return this.#state.stepsView.keys()
  }
}
