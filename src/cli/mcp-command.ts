import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { connectConfigured, connectMcpServers, openJournalOf, type ConnectedServers } from '../app.ts'
import { Callers } from '../mcp/callers.ts'
import { DefinitionLock } from '../mcp/definition-lock.ts'
import { notGoverned } from '../mcp/gateway.ts'
import { definitionsOf, openGateway, type OpenGateway } from '../mcp/open-gateway.ts'
import { isLoopback, serveHttp } from '../mcp/serve-http.ts'
import { serveStdio } from '../mcp/serve-stdio.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Config } from '../source/config.ts'
import { recordPath } from '../source/store-place.ts'
import { loadPlaybook } from '../source/load-playbook.ts'
import type { Tool } from '../tool/tool.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { approvalOutlook } from './approval-outlook.ts'
import { openApprovals } from './open-approvals.ts'
import { findConfigFor, openConfig } from './open-config.ts'
import { readMcpFlags, type McpFlags } from './read-mcp-flags.ts'
import { prepareRunFolder, runFolder } from './run-folder.ts'
import { openStanding, type RunStanding } from './run-standing.ts'
import { settleCallCommand } from './settle-call-command.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep mcp --playbook FILE [OPTIONS] -- COMMAND [ARGUMENTS]
       lockstep mcp --playbook FILE [OPTIONS] --servers FILE
       lockstep mcp --playbook FILE [OPTIONS] [--config FILE]
       lockstep mcp lock --playbook FILE (-- COMMAND | --servers FILE | [--config FILE])
       lockstep mcp settle RUN CALL=succeeded|failed --playbook FILE [OPTIONS]

Stands between an MCP client and tools, of MCP servers or of a configuration, and holds every call to the playbook.
Serves one client on standard input and output; with --http, many.

Only calls through it are governed: tools that the client holds elsewhere are not.

Options:
  --playbook FILE    the playbook
  -- COMMAND         the MCP server to start; it gets this process's environment
  --servers FILE     several servers, as JSON: { "mcpServers": { "NAME": { "command", "args", "env" } | { "url" } } }
  --config FILE      the tools and MCP servers of this configuration, instead of the nearest lockstep.config.yaml
  --policy FILE      a policy that every run stands under, besides those of the configuration (the named one, or the nearest);
                     may be given more than once
  --name NAME        what the server after -- is called (upstream)
  --risk TOOL=RISK   read, write or irreversible (the default); for a tool of the server after --
  --timeout SECONDS  how long a call to the server after -- may take (60)
  --observe          deny nothing; say at the end what would have been denied
  --run NAME         a run that can be taken up again under this name
  --input NAME=VALUE an input of the playbook
  --http PORT        serve over HTTP; every call carries its run, which start_run begins
  --host HOST        the address to listen on (127.0.0.1)
  --callers FILE     who may call over HTTP: { "NAME": "env:VARIABLE" | "sha256:DIGEST" }; without it one caller, whose
                     token is LOCKSTEP_MCP_TOKEN or is made up and shown
  --lock FILE        where definitions are pinned (lockstep.mcp.lock beside the playbook)
  --data DIRECTORY   where runs are recorded, instead of LOCKSTEP_HOME or the user's data folder

lockstep mcp lock pins what the servers' tools are now, and shows what changed.
lockstep mcp settle writes down what became of a call whose outcome nobody knew; see lockstep mcp settle --help.

Examples:
  lockstep mcp --playbook refund.yaml -- npx -y some-mcp-server
  lockstep mcp --playbook refund.yaml --observe -- node server.js
  lockstep mcp --playbook refund.yaml --servers servers.json --http 8808
  lockstep mcp --playbook refund.yaml --config lockstep.config.yaml
  lockstep mcp --playbook refund.yaml --policy money.yaml -- npx -y some-mcp-server
`

/** `lockstep mcp`: the gateway. Standard output carries the protocol and nothing else. */
export const mcpCommand: Command = {
  help,
  helpFor: async ([action]) => (action === 'settle' ? settleCallCommand.help : help),
  async run(args, terminal) {
    if (args[0] === 'settle') return await settleCallCommand.run(args.slice(1), terminal)
    const flags = readMcpFlags(args)
    const playbook = loadPlaybook(resolve(flags.playbook))
    const beside = dirname(resolve(flags.playbook))
    const lock = DefinitionLock.open(flags.lock ?? join(beside, 'lockstep.mcp.lock'))
    const say = (text: string) => terminal.err(`lockstep mcp: ${text}\n`)
    const config = await configOf(flags)
    const standing = openStanding(config, flags.policies, terminal)
    if (standing === null) return exitCode.failed
    const upstream = await connect(flags, config, say)
    try {
      if (flags.action === 'lock') pin(lock, upstream, terminal)
      else {
        const runs = prepareRunFolder(flags.data === null ? runFolder() : resolve(flags.data, 'runs'))
        await serve({ flags, playbook, lock, upstream, runs, standing, say })
      }
      return exitCode.done
    } finally {
      await upstream.close()
    }
  },
}

interface Service {
  readonly flags: McpFlags
  readonly playbook: Playbook
  readonly lock: DefinitionLock
  readonly upstream: ConnectedServers
  readonly runs: string
  readonly standing: RunStanding
  readonly say: (text: string) => void
}

async function serve({ flags, playbook, lock, upstream, runs, standing, say }: Service): Promise<void> {
  const { http, observe } = flags
  const user = standing.principal.id
  const callers = http === null ? null : readCallers(http, user, say)
  // Where callers are told apart by name, none of them is the user who runs the gateway.
  const shared = http !== null && http.callers !== null
  const identity = http === null ? 'local' : 'apikey'
  const approvals = openApprovals({ standing, identity, runs, say })
  const journal = await openJournalOf(runs, flags.run, { tools: namedTools(upstream) })
  const stop = stopSignal()
  const open = await openGateway({
    playbook,
    upstream,
    servers: upstream.servers.map(({ name }) => name),
    lock,
    journal,
    observe,
    only: http === null ? { run: flags.run, inputs: flags.inputs } : null,
    version: version(),
    onNotice: say,
    ...(shared ? {} : { user }),
    ...(approvals === undefined ? {} : { approvals }),
  })
  const own = upstream.own?.({}).length ?? 0
  const behind = [
    ...upstream.servers.map(({ name, revision }) => `${name} (${revision})`),
    ...(own === 0 ? [] : [`${own} tool${own === 1 ? '' : 's'} of the configuration`]),
  ]
  say(`${playbook.id}, ${observe ? 'observed, not enforced' : 'enforced'}, in front of ${behind.join(', ')}`)
  say(
    `${open.run === null ? 'runs are' : `run ${open.run} is`} recorded in ${recordPath(runs, open.run ?? '')}`,
  )
  if (approvals !== undefined) {
    say(`under ${standing.policies.map(({ ref }) => `${ref.id}@${ref.version}`).join(', ')}`)
    const requesters = shared ? [] : [user]
    for (const line of approvalOutlook({ ...standing, requesters }, playbook, namedTools(upstream))) say(line)
  }
  say(notGoverned)
  try {
    if (http === null || callers === null) await serveStdio(open.gateway, stop)
    else await listen(open, { ...http, callers }, stop, say)
  } finally {
    // Calls in flight end with their server, and how they ended is written down before the record is closed.
    await upstream.close()
    for (const line of await open.close()) say(line)
    await journal.close()
  }
}

async function listen(
  { gateway }: OpenGateway,
  options: Parameters<typeof serveHttp>[1],
  stop: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  const service = await serveHttp(gateway, options)
  say(`listening on ${service.url}`)
  await new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
  await service.close()
}

function pin(lock: DefinitionLock, upstream: ConnectedServers, terminal: Terminal): void {
  const changes = upstream.servers.flatMap(({ name }) => lock.pin(name, definitionsOf(upstream, name)))
  lock.save()
  for (const change of changes) terminal.out(`${change}\n`)
  terminal.out(
    `${lock.path}: ${changes.length === 0 ? 'nothing changed' : 'written. Review it and commit it'}.\n`,
  )
}

/** The configuration whose tools are served, or else the nearest, whose policies bind whatever is served. */
async function configOf({ servers, playbook }: McpFlags): Promise<Config | null> {
  if ('config' in servers) return await openConfig(servers.config)
  const path = findConfigFor(playbook)
  return path === null ? null : await openConfig(path)
}

/** The tools by all the names that a playbook may use for them. */
function namedTools(upstream: ConnectedServers): readonly Tool[] {
  const bare = upstream.tools.map((tool) => ({ ...tool, name: tool.name.slice(tool.name.indexOf('/') + 1) }))
  return [...(upstream.own?.({}) ?? []), ...upstream.tools, ...bare]
}

async function connect(
  { action, servers, risks, timeoutSeconds }: McpFlags,
  config: Config | null,
  say: (text: string) => void,
): Promise<ConnectedServers> {
  if ('config' in servers) {
    if (config === null) throw nothingToServe('there is no configuration')
    const served = Object.keys(config.mcpServers).length > 0
    // Only what servers say can be pinned.
    if (action === 'lock' && !served) throw nothingToServe('the configuration has no mcpServers')
    const own = config.http.length + config.exec.length + config.modules.length
    if (!served && own === 0) throw nothingToServe('the configuration has neither tools nor mcpServers')
    return await connectConfigured(config, say)
  }
  if ('file' in servers) {
    const file = readJson(servers.file) as { mcpServers?: unknown } | null
    return await connectMcpServers(file?.mcpServers ?? file, say)
  }
  const [command, ...args] = servers.command
  // Whoever starts the gateway in a server's place gives it the environment that was meant for the server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined))
  const tools = Object.fromEntries(Object.entries(risks).map(([tool, risk]) => [tool, { risk }]))
  const timeout = timeoutSeconds === null ? {} : { timeoutSeconds }
  return await connectMcpServers({ [servers.name]: { command, args, env, tools, ...timeout } }, say)
}

function nothingToServe(why: string): LockstepError {
  return new LockstepError('usage', `mcp has nothing to stand in front of: ${why}`, {
    hint: 'name servers with -- COMMAND or --servers FILE, or a configuration with --config FILE',
  })
}

function readCallers(
  http: NonNullable<McpFlags['http']>,
  user: string,
  say: (text: string) => void,
): Callers {
  if (http.callers !== null) return Callers.read(readJson(http.callers), process.env)
  if (!isLoopback(http.host)) {
    throw new LockstepError('usage', `--host ${http.host} lets other machines in, so it needs --callers FILE`)
  }
  const given = process.env['LOCKSTEP_MCP_TOKEN'] ?? ''
  if (given !== '') return Callers.single(user, given)
  const token = randomBytes(24).toString('base64url')
  say(`the bearer token of this process: ${token}`)
  return Callers.single(user, token)
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LockstepError('usage', `${path} cannot be read as JSON: ${why}`)
  }
}

function stopSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
