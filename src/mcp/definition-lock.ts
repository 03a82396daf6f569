/**
 * Pins what tools of MCP servers are: what they say they do, and what they take.
 *
 * Owns: the file `lockstep.mcp.lock`.
 *
 * Invariants
 * L1  A definition that differs from the pinned one in any way is not used: the tool is refused, and the pinned one is shown.
 * L2  A tool that a pinned server did not have then is not used before somebody pins it.
 * L3  Only `lockstep mcp lock` changes what is pinned; first use pins servers that are not in the file, and says so.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

const lockSchema = z.strictObject({
  format: z.literal('lockstep.mcp.lock'),
  version: z.literal(1),
  servers: z.record(
    z.string(),
    z.record(z.string(), z.strictObject({ digest: z.string(), definition: z.record(z.string(), z.json()) })),
  ),
})

type LockFile = z.infer<typeof lockSchema>

/** Definitions by server and tool, as the servers give them. */
export type Definitions = ReadonlyMap<string, JsonObject>

/** What is pinned: read from a file, compared with what servers say, written back when somebody asks. */
export class DefinitionLock {
  readonly path: string
  #file: LockFile

  private constructor(path: string, file: LockFile) {
    this.path = path
    this.#file = file
  }

  /** Reads the file, or begins a new one. Throws `mcp_lock_unreadable` if there is a file that is none. */
  static open(path: string): DefinitionLock {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(path, cause)
      return new DefinitionLock(path, { format: 'lockstep.mcp.lock', version: 1, servers: {} })
    }
    try {
      const file = lockSchema.parse(JSON.parse(text))
      for (const tools of Object.values(file.servers)) {
        for (const { digest: pinned, definition } of Object.values(tools)) {
          if (digestOf(definition) !== pinned) throw new Error('a digest is not that of its definition')
        }
      }
      return new DefinitionLock(path, file)
    } catch (cause) {
      throw unreadable(path, cause)
    }
  }

  /** The digest of everything that is pinned. */
  get digest(): string {
    return digest(canonicalJson(this.#file as JsonObject))
  }

  /** Says whether anything of the server is pinned. */
  knows(server: string): boolean {
    return Object.hasOwn(this.#file.servers, server)
  }

  /** The definition that was reviewed; null if the tool was not. */
  pinned(full: string): JsonObject | null {
    const [server, tool] = split(full)
    const tools = this.knows(server) ? this.#file.servers[server]! : {}
    return Object.hasOwn(tools, tool) ? tools[tool]!.definition : null
  }

  /** Pins what the server says now, instead of whatever was pinned of it. Returns what changed, one line each. */
  pin(server: string, definitions: Definitions): string[] {
    const before = this.knows(server) ? this.#file.servers[server]! : {}
    const after = Object.fromEntries(
      [...definitions]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([tool, definition]) => [tool, { digest: digestOf(definition), definition }]),
    )
    this.#file = {
      ...this.#file,
      servers: { ...this.#file.servers, [server]: after as LockFile['servers'][string] },
    }
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    return names.flatMap((name) => {
      const [old, now] = [before[name]?.definition, after[name]?.definition]
      if (old === undefined) return [`+ ${server}/${name}`]
      if (now === undefined) return [`- ${server}/${name}`]
      return differences(old, now).map((line) => `~ ${server}/${name} ${line}`)
    })
  }

  /** Writes the file. */
  save(): void {
    writeFileSync(this.path, `${JSON.stringify(this.#file, null, 2)}\n`)
  }

  /** Why a tool may not be used as its server describes it now (L1, L2); null if it is what was pinned. */
  refusal(full: string, now: JsonObject | null): string | null {
    const pinned = this.pinned(full)
    const mend = `If that is right, review it and run \`lockstep mcp lock\``
    if (pinned === null) return `'${full}' is not in ${this.path}. ${mend}`
    if (now === null) return `its server no longer has '${full}'`
    if (now === pinned || digestOf(now) === digestOf(pinned)) return null
    return `its server changed what '${full}' is since it was reviewed: ${differences(pinned, now).join('; ')}. ${mend}`
  }
}

const digests = new WeakMap<JsonObject, string>()

function digestOf(definition: JsonObject): string {
  const known = digests.get(definition) ?? digest(canonicalJson(definition))
  digests.set(definition, known)
  return known
}

/** Where two definitions differ, one line for each place. */
export function differences(one: Json | undefined, other: Json | undefined, path = ''): string[] {
  if (isJsonObject(one) && isJsonObject(other)) {
    const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    return keys.flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`))
  }
  const [before, after] = [write(one), write(other)]
  return before === after ? [] : [`${path}: ${before} → ${after}`]
}

function write(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  const text = canonicalJson(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function split(full: string): [server: string, tool: string] {
  const slash = full.indexOf('/')
  return [full.slice(0, slash), full.slice(slash + 1)]
}

function unreadable(path: string, cause: unknown): LockstepError {
  return new LockstepError('mcp_lock_unreadable', `${path} is not a lock file of MCP tools.`, {
    cause,
    hint: 'Restore it from version control; nothing is served without it.',
  })
}
