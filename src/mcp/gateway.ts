/**
 * The gateway between an MCP client and MCP servers: what clients see of a playbook.
 *
 * Owns: the protocol's surface: tools, the plan as a resource, the procedure as a prompt.
 * Talks to: the runs; it decides nothing itself.
 *
 * Invariants
 * M1  The list of tools is the same from the first answer to the last; what is legal now travels with every answer.
 * M2  Nothing of a server passes but its tools, and the resources and prompts that are configured to: no sampling, elicitation or roots.
 * M3  Whose run a call is follows from who the transport says the caller is, and the handle the call carries; never from one alone.
 * M4  No request waits for a person: what a person is to say is asked in the answer, of clients that can be asked, or told as pending.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type CallToolResult,
  type ReadResourceResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { createState, semantics } from '../run/state.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { toJson } from '../shared/to-json.ts'
import { outline } from '../tool/briefing.ts'
import type { ClientPerson } from './gateway-approvals.ts'
import type { GatewayAnswer, GatewayRun } from './gateway-run.ts'
import { takeRun, type GatewayTools } from './gateway-tools.ts'
import type { Listing, Passing } from './passage.ts'
import { describePlanResource } from './position.ts'
import type { RunStore } from './run-store.ts'

/** What a gateway cannot promise, in the words of the banner, the instructions and the record. */
export const notGoverned =
  'Only calls through this gateway are governed. Tools that the client holds elsewhere are not.'

/** What a gateway serves. */
export interface GatewayOptions {
  readonly tools: GatewayTools
  readonly runs: RunStore
  readonly observe: boolean
  /** Gives the one run of this process, begun when it is first asked for; null where every call names its run. */
  readonly only: (() => Promise<GatewayRun>) | null
  readonly version: string
  /** Hears what a person should know, one sentence each. */
  readonly onNotice: (text: string) => void
}

const scheme = 'lockstep://'
/** The list never changes while the gateway runs, and it restarts with another playbook. */
const listTtlMs = 5 * 60_000
/** How much of an address or a name is written down. */
const maxSubject = 2000

/** Answers MCP clients for one playbook. */
export class Gateway {
  readonly #options: GatewayOptions

  constructor(options: GatewayOptions) {
    this.#options = options
  }

  /** A server for one connection or one request, whatever the revision; all of them share the runs. */
  createServer(): Server {
    const { tools, only, observe, version } = this.#options
    const { playbook } = tools
    const { passage } = tools
    const cacheHint = { ttlMs: listTtlMs, cacheScope: 'private' } as const
    const server = new Server(
      { name: 'lockstep', title: `Lockstep: ${playbook.name}`, version },
      {
        capabilities: { tools: {}, resources: {}, prompts: {} },
        // What servers list besides tools may change at any time.
        cacheHints: {
          'tools/list': cacheHint,
          ...(passage.passes('prompts') ? {} : { 'prompts/list': cacheHint }),
        },
        // Whoever only observes does not tell the agent how to behave.
        ...(observe ? {} : { instructions: this.#procedure() }),
        jsonSchemaValidator: { getValidator: () => refuseAll },
        // An older client would be asked while its call waits (M4).
        inputRequired: { legacyShim: false },
      },
    )
    const listed = tools.list(only === null)
    server.setRequestHandler('tools/list', () => ({ tools: listed }))
    server.setRequestHandler('tools/call', async ({ params }, context) =>
      this.#call(params.name, params.arguments ?? {}, context, personAt(server, context)),
    )
    server.setRequestHandler('prompts/list', async (_, { mcpReq }) => {
      const { items, unavailable } = await told(passage.prompts(mcpReq.signal))
      const description = `The procedure "${playbook.name}"`
      return {
        prompts: [
          { name: playbook.id, title: playbook.name, description },
          ...items.filter(({ name }) => name !== playbook.id),
        ],
        ...missing(unavailable),
      }
    })
    server.setRequestHandler('prompts/get', async ({ params }, context) => {
      if (params.name !== playbook.id) {
        const passing = passage.prompt(params.name, params.arguments ?? {})
        if (passing !== null) return await this.#pass(passing, context)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt '${params.name}'.`)
      }
      return {
        description: playbook.description,
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: this.#procedure() } }],
      }
    })
    const names = ['plan', ...(observe ? ['observation'] : [])]
    server.setRequestHandler('resources/list', async (_, { mcpReq }) => {
      const { items, unavailable } = await told(passage.resources(mcpReq.signal))
      const own = only === null ? [] : names.map((name) => ({ ...resource(name), uri: `${scheme}${name}` }))
      return { resources: [...own, ...items], ...missing(unavailable) }
    })
    server.setRequestHandler('resources/templates/list', async (_, { mcpReq }) => {
      const { items, unavailable } = await told(passage.templates(mcpReq.signal))
      const own =
        only === null
          ? names.map((name) => ({ ...resource(name), uriTemplate: `${scheme}${name}/{run}` }))
          : []
      return { resourceTemplates: [...own, ...items], ...missing(unavailable) }
    })
    server.setRequestHandler('resources/read', async ({ params }, context) => this.#read(params.uri, context))
    return server
  }

  async #call(
    tool: string,
    given: unknown,
    context: ServerContext,
    person: ClientPerson,
  ): Promise<GatewayAnswer> {
    const { only, runs } = this.#options
    const reading = toJson(given)
    if (reading.problem !== null) return refuse(`The arguments cannot be read: ${reading.problem}.`)
    const args = reading.value as JsonObject
    const { signal } = context.mcpReq
    if (only === null && tool === 'start_run') return await this.#start(args, context)
    try {
      if (only !== null) return await (await only()).call(tool, args, signal, person)
      const { run, args: rest } = takeRun(args)
      if (run === null) {
        return refuse(
          'The call names no run. Call start_run first, and pass the run it names as lockstep_run.',
        )
      }
      const found = await runs.find(run, caller(context))
      if (found !== null) return await found.call(tool, rest, signal, person)
    } catch (error) {
      return refuse(messageOf(error))
    }
    return refuse('There is no such run of yours. Call start_run to begin one.')
  }

  async #start(args: JsonObject, context: ServerContext): Promise<CallToolResult> {
    try {
      const run = await this.#options.runs.begin(caller(context), args['inputs'])
      return {
        content: [{ type: 'text', text: `${run.run}\n\nPass it as lockstep_run with every call.` }],
        structuredContent: { run: run.run },
        _meta: { 'lockstep/procedure': { run: run.run } },
      }
    } catch (error) {
      return refuse(messageOf(error))
    }
  }

  async #read(uri: string, context: ServerContext): Promise<ReadResourceResult> {
    const { only, runs, tools } = this.#options
    const passing = tools.passage.resource(uri)
    if (passing !== null) return await this.#pass(passing, context)
    const [name, handle] = uri.startsWith(scheme) ? uri.slice(scheme.length).split('/') : []
    if (name !== 'plan' && name !== 'observation') throw new ResourceNotFoundError(uri)
    const run =
      only === null ? await runs.find(handle ?? '', caller(context)).catch(() => null) : await only()
    if (run === null || (only !== null && handle !== undefined && handle !== run.run)) {
      throw new ResourceNotFoundError(uri)
    }
    const value = name === 'plan' ? describePlanResource(run.run, run.enforcer) : run.observation.describe()
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value, null, 2) }] }
  }

  /** Asks a server for what is configured to pass. It belongs to no step, so it is not judged; that it was asked for is told first. */
  async #pass<Result extends object>(
    { server, method, subject, ask }: Passing<Result>,
    context: ServerContext,
  ): Promise<Result> {
    const { only, onNotice } = this.#options
    const what = subject.slice(0, maxSubject)
    if (only === null) onNotice(`${caller(context)} asks ${server} for ${JSON.stringify(what)} (${method})`)
    return await told(
      (async () => {
        await (await only?.())?.note({ server, method, subject: what })
        return await ask(context.mcpReq.signal)
      })(),
    )
  }

  /** The procedure as a model reads it before a run: no more than the playbook discloses. */
  #procedure(): string {
    const compiled = compilePlaybook(this.#options.tools.playbook)
    const state = createState(compiled, {
      type: 'run.started',
      at: 0,
      semantics,
      run: '',
      playbook: compiled.digest,
      inputs: {},
      enforced: true,
      finishAttempts: 0,
    })
    const handle = this.#options.only === null ? ['Call start_run first.'] : []
    return [...handle, outline(state), 'Hand your final answer in with the tool finish.', notGoverned].join(
      '\n',
    )
  }
}

function resource(name: string): { name: string; description: string; mimeType: string } {
  const description =
    name === 'plan' ? 'How far the run is, step by step.' : 'What the playbook would have denied so far.'
  return { name, description, mimeType: 'application/json' }
}

/** Tells the client what went wrong with a server, instead of that something did. */
async function told<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InternalError, messageOf(error))
  }
}

/** The servers that a list lacks, where clients find it and models do not. */
function missing(unavailable: Listing<unknown>['unavailable']): { _meta?: Record<string, unknown> } {
  return unavailable.length === 0 ? {} : { _meta: { 'lockstep/unavailable': unavailable } }
}

/** Whether the person at the client can be asked in the answer to this call, as revision 2026-07-28 has it, and what they said (M4). */
function personAt(server: Server, { mcpReq }: ServerContext): ClientPerson {
  const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026-07-28'
  const envelope = (mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>
  const { elicitation } = (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as {
    elicitation?: { form?: object; url?: object }
  }
  // Where neither kind is named, forms are meant.
  const takesForms =
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  return { canAsk: isModern && takesForms, answers: mcpReq.inputResponses ?? {} }
}

/** Who calls, as the transport established it. */
function caller(context: ServerContext): string {
  const { authInfo } = context.http ?? {}
  if (authInfo === undefined) throw new LockstepError('internal', 'a call over HTTP has no caller')
  return authInfo.clientId
}

function refuse(message: string): CallToolResult {
  const value = { executed: false, code: 'no_run', message }
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

/** Nothing is elicited, so there is nothing to check; what asks anyway is refused. */
function refuseAll<T>(): { valid: false; data: undefined; errorMessage: string } & { never?: T } {
  return { valid: false, data: undefined, errorMessage: 'nothing is asked of clients' }
}
