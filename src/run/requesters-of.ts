import { isJsonObject, type JsonObject } from '../shared/json.ts'

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

/** What of an entry says who asks; `data` is not there where it was taken out of a record. */
interface AskingEntry {
  readonly type: string
  readonly principal: string
  readonly data?: JsonObject | null | undefined
}

/** Who had a part in asking for a run, as its entries say: whoever began it or took it up, the first one first, and who was behind them. */
export function requestersOf(entries: readonly AskingEntry[]): readonly string[] {
  const workers = entries.filter(({ type }) => work.has(type)).map(({ principal }) => principal)
  return [...new Set([...workers, ...(recordedRequesters(entries) ?? [])])]
}

/** The same of the entries of an export, of which only the payload that says so is read. */
export function requestersInExport(
  entries: readonly { readonly link: AskingEntry; data(): JsonObject | null }[],
): readonly string[] {
  return requestersOf(
    entries.map((entry) => {
      const { type, principal } = entry.link
      return { type, principal, data: type === 'agent.prompted' ? entry.data() : null }
    }),
  )
}

/** Who was responsible for a run when it began, as was written down then; null where nobody wrote it down. */
export function recordedRequesters(entries: readonly AskingEntry[]): readonly string[] | null {
  const origin = entries.find(({ type }) => type === 'agent.prompted')?.data?.['origin']
  const requesters = isJsonObject(origin) ? origin['requesters'] : undefined
  if (!Array.isArray(requesters)) return null
  return requesters.filter((each): each is string => typeof each === 'string')
}
