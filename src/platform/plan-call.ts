import type { ChainStore } from '../journal/chain-store.ts'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { readDecision } from '../policy/decision-record.ts'
import type { PolicyDecision } from '../policy/decision.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import type { PolicyMode } from '../policy/policy-request.ts'
import { startRun } from '../run/perform.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { dryRunTool, isDryRunResult, isOnlyShown } from '../tool/dry-run-tool.ts'
import { PolicyGuard } from '../tool/policy-guard.ts'
import type { Tool } from '../tool/tool.ts'
import { oneCall, onlyStep } from './one-call.ts'
import type { Starter } from './starter.ts'
import type { TextShelf } from './text-shelf.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** What is asked about. */
export interface PlannedCall {
  readonly tenant: string
  readonly project: string
  readonly by: Starter
  readonly tool: Tool
  readonly args: JsonObject
  readonly mode: PolicyMode
  readonly context: JsonObject
}

/** What would become of a call. */
export interface CallPlan {
  readonly decision: PolicyDecision
  /** What would be sent, where the tool can say; null where it cannot. */
  readonly request: Json
}

/** What planning stands on. */
export interface Planner {
  readonly store: Pick<ChainStore, 'ledger'>
  readonly texts: Pick<TextShelf, 'policiesFor'>
  readonly tools: Pick<ToolCatalogue, 'bind'>
  now(): number
}

/** Asks the policies about a call as the run would, and the tool what it would send. Nothing is called, counted or written down. */
export async function planCall({ store, texts, tools, now }: Planner, call: PlannedCall): Promise<CallPlan> {
  const { tenant, project, by, tool, args, mode, context } = call
  const { playbook, inputs } = oneCall(tool, args)
  const at = now()
  const start = { run: 'plan', inputs, enforced: true, finishAttempts: 2, mode }
  const { state } = startRun(compilePlaybook(playbook), start, { now: at })
  const policies = await texts.policiesFor(tenant, project, null)
  const { ledger } = store
  const guard = new PolicyGuard({
    policies: policies.length === 0 ? [defaultPolicy()] : policies,
    principal: { id: by.actor, kind: by.kind, roles: by.roles },
    requesters: by.persons,
    mode,
    context,
    shared: ledger === undefined ? undefined : { ledger, tenant },
  })
  const judged = { callId: onlyStep, tool: tool.name, args }
  const asks = guard.asksOthers(state, judged, tool, at)
  const counts = asks === null ? null : await asks.ledger.count(asks.question)
  const { decision } = readDecision(guard.judge(state, judged, tool, at, counts).record as JsonObject)
  return { decision, request: await requestOf(tools, tool, args) }
}

async function requestOf(tools: Planner['tools'], { name }: Tool, args: JsonObject): Promise<Json> {
  const bound = await tools.bind({ inputs: {}, secrets: {}, dry: true })
  try {
    const found = bound.tools.find((each) => each.name === name)
    if (found === undefined) return null
    // Where a dry run may look at things, a plan may not.
    const shown = isOnlyShown(found) ? found : dryRunTool(found, { callReads: false })
    const { signal } = new AbortController()
    const told = await shown.execute(args, { signal, idempotencyKey: 'plan' })
    return bound.maskJson(isDryRunResult(told) ? (told.would as Json) : null)
  } catch (error) {
    return bound.maskText(`It cannot be said: ${messageOf(error)}`)
  } finally {
    await bound.close()
  }
}
