/** The entries that only somebody writes who has the run work; who votes writes others. */
const work: ReadonlySet<string> = new Set([
  'run.started',
  'agent.prompted',
  'model.answered',
  'question.asked',
  'question.answered',
  'tool.held',
  'tool.admitted',
])

/** Who had a part in asking for a run, as its entries say: whoever began it or took it up, the first one first. */
export function requestersOf(
  entries: readonly { readonly type: string; readonly principal: string }[],
): readonly string[] {
  return [...new Set(entries.filter(({ type }) => work.has(type)).map(({ principal }) => principal))]
}
