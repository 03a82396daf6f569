import { canonicalJson } from '../shared/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import { sameJson } from '../shared/same-json.ts'
import { approvalId } from './approval-id.ts'
import type { EventOf } from './event.ts'
import type { RunState } from './state.ts'

/** What an approval covers, where the call that is made under it is another one; null where it covers the call, and where none is asked for. */
export function uncoveredCall(
  state: RunState,
  { callId, tool, args }: EventOf<'tool.admitted'>,
): string | null {
  const ticket = state.byCallId.get(callId)
  if (ticket?.state !== 'held') return null
  const name = `approval ${approvalId(state.run, callId)}`
  if (ticket.tool !== tool) return `${name} covers ${ticket.tool}; the call was ${tool}`
  const [covered, used]: [JsonObject, JsonObject] = [ticket.args ?? {}, args ?? {}]
  const names = [...new Set([...Object.keys(covered), ...Object.keys(used)])]
  const other = names.find((each) => !sameJson(covered[each], used[each]))
  if (other === undefined) return null
  const show = (value: JsonObject) =>
    Object.hasOwn(value, other) ? canonicalJson(value[other]!).slice(0, 200) : 'nothing'
  return `${name} covers ${other} ${show(covered)}; the call used ${show(used)}`
}
