import type { ExpressionValue } from './expression-value.ts'

/** A function that the embedder adds, such as `succeeded("tool", order_id=args.order_id)`. */
export interface ContextFunction<Host> {
  readonly name: string
  /** Whether it takes one positional argument, which must be a string literal; otherwise it takes none. */
  readonly literal: boolean
  /** Whether it takes keyword arguments of any name. */
  readonly keywords: boolean
  readonly returns: 'boolean' | 'number' | 'any'
  /** Called once for each call in the source; what it returns is called at each evaluation, undefined meaning missing. */
  bind(
    literal: string | null,
    keywordNames: readonly string[],
  ): (host: Host, keywordValues: readonly ExpressionValue[]) => ExpressionValue | undefined
}
