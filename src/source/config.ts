import type { Json, JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import type { ServerFile } from './settings-schema.ts'

/** Where a secret is to be found; made from the text of a configuration only, never from data of a run (G19). */
export type SecretReference =
  | { readonly from: 'env'; readonly name: string }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'exec'; readonly command: readonly string[]; readonly cwd: string }
  | { readonly from: 'store'; readonly name: string }

/** The value of a header or a variable: a text with placeholders, or a secret with what stands before it. */
export type ConfigValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'secret'; readonly prefix: string; readonly reference: SecretReference }

type ToolRisk = 'read' | 'write' | 'irreversible'

/** What every declared tool says of itself. */
export interface ToolConfig {
  readonly name: string
  readonly description: string
  readonly input: JsonSchema | null
  /** Null where nothing is declared, which counts as irreversible. */
  readonly risk: ToolRisk | null
  readonly timeoutSeconds: number
  readonly maxResultBytes: number
  /** What a call acts on, with placeholders; null where it is not said. */
  readonly target: string | null
  readonly idempotent: boolean
  /** The call that undoes a succeeded one, with placeholders. */
  readonly compensate: { readonly tool: string; readonly input: JsonObject } | null
}

/** What an answer says about a call whose outcome is unknown. */
export interface FindingConfig {
  /** Null only where exit codes say it. */
  readonly applied: string | null
  readonly notApplied: string | null
  /** Undefined for none. */
  readonly result: Json | undefined
}

/** A tool that sends a request. */
export interface HttpToolConfig extends ToolConfig {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, ConfigValue>>
  readonly query: Readonly<Record<string, Json>>
  /** Undefined sends nothing. */
  readonly body: Json | undefined
  readonly statusesWithoutEffect: readonly number[]
  /** The header that carries the key of a call; null for none. */
  readonly idempotencyHeader: string | null
  readonly reconcile:
    | (FindingConfig & {
        readonly url: string
        /** Null for those of the tool. */
        readonly headers: Readonly<Record<string, ConfigValue>> | null
      })
    | null
}

/** A tool that runs a program. */
export interface ExecToolConfig extends ToolConfig {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, ConfigValue>>
  readonly passEnv: readonly string[]
  readonly allowDash: boolean
  readonly stdin: Json | undefined
  readonly output: 'text' | 'json'
  readonly exitCodesWithoutEffect: readonly number[]
  readonly reconcile: (FindingConfig & { readonly command: readonly string[] }) | null
}

/** What is known about the tools of an MCP server, whatever the server says. */
interface McpServerSettings {
  readonly timeoutSeconds?: number
  readonly maxResultBytes?: number
  /** What of the server clients of `lockstep mcp` may ask for besides its tools. */
  readonly pass?: readonly ('resources' | 'prompts')[]
  readonly tools: Readonly<
    Record<
      string,
      { readonly risk?: ToolRisk | undefined; readonly errors?: 'unknown' | 'not_applied' | undefined }
    >
  >
}

/** An MCP server that is started, or one that is called. */
export type McpServerConfig = McpServerSettings &
  (
    | {
        readonly command: string
        readonly args: readonly string[]
        readonly env: Readonly<Record<string, ConfigValue>>
        readonly cwd: string
      }
    | { readonly url: string; readonly headers: Readonly<Record<string, ConfigValue>> }
  )

/** A configuration that was checked: paths absolute, defaults filled in, secrets as references. */
export interface Config {
  readonly file: string | null
  readonly http: readonly HttpToolConfig[]
  readonly exec: readonly ExecToolConfig[]
  readonly modules: readonly string[]
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>
  /** The files of the policies that every run stands under. */
  readonly policies: readonly string[]
  /** The roles of people, by their names as users of the operating system. */
  readonly people: Readonly<Record<string, readonly string[]>>
  /** Whether the practice tools are there. */
  readonly practice: boolean
  readonly callReadsInDryRun: boolean
  /** What it sets for `lockstep serve`, as it is written. */
  readonly server: ServerFile
}
