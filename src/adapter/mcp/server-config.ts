import { z } from 'zod'
import { LockstepError } from '../../shared/lockstep-error.ts'

/** What the operator knows about one tool of a server; the server's own word about it is shown and not trusted. */
const toolSettings = z.strictObject({
  risk: z.enum(['read', 'write', 'irreversible']).optional(),
  /** What an error that the server reports means: nobody knows, or nothing was applied. */
  errors: z.enum(['unknown', 'not_applied']).optional(),
})

const shared = {
  tools: z.record(z.string(), toolSettings).optional(),
  timeoutSeconds: z.number().positive().optional(),
  /** How much of an answer passes. */
  maxResultBytes: z.int().positive().optional(),
  /** What of the server clients of a gateway may ask for besides its tools. */
  pass: z
    .array(z.enum(['resources', 'prompts']))
    .readonly()
    .optional(),
  /** The revision to speak, without asking the server which it knows. */
  revision: z.enum(['2026-07-28', '2025-11-25']).optional(),
}

const processServer = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.string().min(1),
  args: z.array(z.string()).readonly().optional(),
  env: z.record(z.string(), z.string()).optional(),
  cwd: z.string().optional(),
  ...shared,
})

const httpServer = z.strictObject({
  type: z.enum(['http', 'streamable-http']).optional(),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).optional(),
  ...shared,
})

/** How a server is reached: the shape that MCP clients use, and what Lockstep adds to it. */
export type McpServerConfig = z.infer<typeof processServer> | z.infer<typeof httpServer>

/** Servers by name; the name stands before the names of their tools. */
export type McpServers = Readonly<Record<string, McpServerConfig>>

const serverName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/

/** Reads servers as a configuration file gives them. Throws `invalid_value` that names every problem. */
export function readMcpServers(value: unknown): McpServers {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refused(['it is not an object with a server under each name'])
  }
  const problems: string[] = []
  const servers: Record<string, McpServerConfig> = {}
  for (const [name, given] of Object.entries(value)) {
    if (!serverName.test(name)) problems.push(`'${name}' cannot name a server`)
    const remote = typeof given === 'object' && given !== null && 'url' in given
    const { success, data, error } = (remote ? httpServer : processServer).safeParse(given)
    if (success) servers[name] = data
    else problems.push(...error.issues.map((issue) => `${[name, ...issue.path].join('.')}: ${issue.message}`))
  }
  if (problems.length > 0) throw refused(problems)
  return servers
}

function refused(problems: readonly string[]): LockstepError {
  return new LockstepError('invalid_value', `The MCP servers cannot be used: ${problems.join('; ')}.`, {
    hint: 'a server is { "command", "args", "env" } or { "url", "headers" }, as MCP clients write it',
  })
}
