/** What a limit counts: calls of these tools, or the targets of them, in the time before the call. */
export interface CounterQuery {
  /** The same for the same question, whichever policy asks it. */
  readonly key: string
  readonly tools: readonly string[] | null
  /** Null means since the run began. */
  readonly seconds: number | null
  readonly scope: 'tenant' | 'principal' | 'run'
}

/** The question with its key. */
export function counterQuery(question: Omit<CounterQuery, 'key'>): CounterQuery {
  const tools = question.tools === null ? null : [...new Set(question.tools)].sort()
  const time = question.seconds === null ? '' : `/${question.seconds}s`
  return { ...question, tools, key: `${question.scope}${time}:${tools?.join(',') ?? '*'}` }
}
