import type { toolRoutes } from '../api/run-routes.ts'
import type { Principal } from '../directory/principal.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { approvalId } from '../run/approval-id.ts'
import { findTool, oneCall } from '../platform/one-call.ts'
import { planCall } from '../platform/plan-call.ts'
import { starterOf } from '../platform/starter.ts'
import type { JsonObject } from '../shared/json.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Tool } from '../tool/tool.ts'
import { sendEntry } from '../overview/send-entry.ts'
import { Answer, type HandlersOf } from './handler.ts'
import { assertMay, forbidden } from './permit.ts'
import { assertWritable, RequestError } from './problem.ts'
import type { RunPlatform, RunSetup } from './run-setup.ts'

/** How long a call is waited for before the sender is told to look at the run. */
const patienceMs = 10_000

/** Tools outside of any playbook: what there is, what a call would come to, and one call as a run of one step. */
export function toolHandlers({ platform }: Pick<RunSetup, 'platform'>): HandlersOf<keyof typeof toolRoutes> {
  return {
    listTools: () => ({
      items: platform.tools.tools
        .map(({ tool, origin, practice }) => ({
          name: tool.name,
          description: tool.description,
          risk: tool.risk,
          origin: redactText(origin),
          input: tool.input as never,
          practice,
        }))
        .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    }),
    planTool: async ({ principal, project, body }) => {
      const place = placeOf(platform, principal, project)
      const { tool } = findTool(platform.tools, body.tool)
      assertArguments(tool, body.args)
      assertWritable('body.context', body.context)
      const call = { ...place, tool, args: body.args, mode: body.mode, context: body.context }
      const { decision, request } = await planCall(platform, call)
      const { verdict, code, rule, reason } = decision
      return {
        tool: tool.name,
        mode: body.mode,
        args: redactObject(body.args) as never,
        verdict,
        code,
        rule,
        reason: redactText(reason),
        risk: tool.risk,
        request: redactObject({ request })['request'] as never,
      }
    },
    invokeTool: async ({ principal, project, body }) => {
      const place = placeOf(platform, principal, project)
      assertMay(principal, 'tool:invoke', place.project)
      const { tool } = findTool(platform.tools, body.tool)
      assertArguments(tool, body.args)
      assertWritable('body.context', body.context)
      const run = await platform.desk.begin({
        ...place,
        ...oneCall(tool, body.args),
        runbook: null,
        mode: body.mode,
        context: body.context,
        model: 'none',
        prompt: null,
      })
      return await answerOf(platform, principal.tenant, run)
    },
  }
}

/** Where a call outside of any playbook is made: in the project that was named, else in the default one. */
function placeOf({ directory }: RunPlatform, principal: Principal, named: string | null) {
  const { tenant } = principal
  const project = named ?? directory.projects.default(tenant).id
  return { tenant, project, by: starterOf(principal, project) }
}

function assertArguments(tool: Tool, args: JsonObject): void {
  assertWritable('body.args', args)
  const problems = tool.checkArguments(args)
  if (problems.length === 0) return
  throw new RequestError('invalid_request', `body.args: ${problems[0]}`, {
    errors: problems.map((message) => ({ path: 'body.args', message: message.slice(0, 300) })),
  })
}

/** What became of the call so far: it is done, it waits for somebody, or it goes on. */
async function answerOf({ engineOf, overview }: RunPlatform, tenant: string, run: string) {
  const engine = await engineOf(tenant)
  const patience = AbortSignal.timeout(patienceMs)
  const left = new AbortController()
  let settled: JournalEntry | null = null
  let held: JournalEntry | null = null
  try {
    for await (const entry of engine.tail(run, 1, AbortSignal.any([patience, left.signal]))) {
      if (entry.type === 'tool.denied' && entry.data['code'] !== 'awaiting_approval') throw denied(entry, run)
      if (entry.type === 'tool.settled') settled = entry
      if (entry.type === 'tool.held') held = entry
      if (entry.type === 'tool.held' || entry.type === 'run.finished') break
    }
  } finally {
    left.abort()
  }
  const card = await overview.run(tenant, run)
  const data = settled === null ? {} : sendEntry(settled).data
  const body = {
    run,
    status: card!.status,
    result: data['result'] ?? null,
    error: typeof data['error'] === 'string' ? data['error'] : null,
    approval: held === null || settled !== null ? null : approvalId(run, String(held.data['callId'])),
  }
  return new Answer(body, {
    status: card!.endedAt === null ? 202 : 200,
    headers: { location: `/runs/${run}` },
  })
}

/** What the gate does not let through is not permitted; the run says everything about it. */
function denied({ data }: JournalEntry, run: string): RequestError {
  const { code, message, hint } = forbidden('tool:invoke')
  return new RequestError(code, redactText(String(data['message'] ?? message)), {
    hint: `GET /runs/${run} says which rule decided. ${hint ?? ''}`.trim(),
  })
}
