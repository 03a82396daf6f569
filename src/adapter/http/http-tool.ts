import type { Json, JsonObject } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { type Tool, tool } from '../../tool/tool.ts'
import {
  type DeclaredTool,
  type DeclaredValue,
  type Surroundings,
  commonDefinition,
  readText,
} from '../declared-tool.ts'
import { maskTool } from '../masked-tool.ts'
import { readJson } from '../read-json.ts'
import type { SecretVault } from '../secret-vault.ts'
import { compileJsonTemplate } from '../tool-template.ts'
import { compileReconciliation, type HttpReconciliation } from './http-reconciliation.ts'
import { compileHeaders, headerText } from './request-headers.ts'
import { compileRequestUrl } from './request-url.ts'
import { type HttpResponse, sendRequest } from './send-request.ts'

/** A tool that sends a request. */
export interface HttpToolDeclaration extends DeclaredTool {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, DeclaredValue>>
  readonly query: Readonly<Record<string, Json>>
  /** Undefined sends nothing. */
  readonly body: Json | undefined
  readonly statusesWithoutEffect: readonly number[]
  /** The header that carries the key of a call; null for none. */
  readonly idempotencyHeader: string | null
  /** How it is found out what became of a call; null where that cannot be. */
  readonly reconcile: HttpReconciliation | null
}

/** Makes a tool that sends a request. Throws `invalid_tool` if an argument could change where requests go. */
export function createHttpTool(declared: HttpToolDeclaration, { vault, inputs }: Surroundings): Tool {
  const { name, method } = declared
  const makeUrl = compileRequestUrl(declared.url, declared.query, name)
  const makeBody =
    declared.body === undefined ? null : compileJsonTemplate(declared.body, `The body of '${name}'`)
  const makeHeaders = compileHeaders(declared.headers, name, vault)
  const keyHeader = declared.idempotencyHeader
  const prepare = async (args: JsonObject, key: string, secrets: 'resolved' | 'shown') => {
    const values = { args, inputs, key }
    const url = makeUrl(values)
    const headers = await makeHeaders(values, secrets)
    if (keyHeader !== null) headers.set(keyHeader, headerText(key, `The key of a call of '${name}'`))
    return { method, url, headers, body: makeBody === null ? null : writeBody(makeBody(values), headers) }
  }
  const { reconcile } = declared
  const made = tool({
    ...commonDefinition(declared, inputs),
    async execute(args, { signal, idempotencyKey }) {
      const request = await prepare(args, idempotencyKey, 'resolved')
      return readResponse(await sendRequest(request, declared.maxResultBytes, signal), declared, vault)
    },
    async dryRun(args, { idempotencyKey }) {
      const { url, headers, body } = await prepare(args, idempotencyKey, 'shown')
      return { request: `${method} ${url.href}`, headers: Object.fromEntries(headers), body }
    },
    ...(reconcile === null
      ? {}
      : { reconcile: compileReconciliation(reconcile, declared, { vault, inputs }) }),
  })
  return maskTool(made, vault)
}

function writeBody(body: Json, headers: Headers): string {
  const type = headers.get('content-type')
  if (type === null) headers.set('content-type', 'application/json')
  if (type?.startsWith('application/x-www-form-urlencoded') === true && typeof body === 'object') {
    const fields = Object.entries(body ?? {}).filter(([, value]) => value !== null)
    const form = new URLSearchParams()
    for (const [key, value] of fields)
      form.append(key, typeof value === 'object' ? JSON.stringify(value) : String(value))
    return form.toString()
  }
  const isText = type !== null && !/[/+]json\b/.test(type) && typeof body === 'string'
  return isText ? body : JSON.stringify(body)
}

function readResponse(response: HttpResponse, declared: HttpToolDeclaration, vault: SecretVault): Json {
  const { status, contentType, bytes } = response
  const text = isTextual(contentType)
    ? readText(bytes, declared.maxResultBytes, vault)
    : `[${contentType}, not shown]`
  if (status < 200 || status >= 300) {
    const said = vault.cutText(text, 2_000, true)
    const message = `${declared.method} was answered with ${status}${said === '' ? '' : `: ${said}`}`
    throw declared.statusesWithoutEffect.includes(status) ? new ToolFailure(message) : new Error(message)
  }
  if (bytes.length === 0) return { status }
  const whole = bytes.length <= declared.maxResultBytes
  // A service that promises JSON and sends something else is shown as it is.
  return whole && /[/+]json\b/.test(contentType) ? (readJson(text) ?? text) : text
}

function isTextual(contentType: string): boolean {
  return (
    contentType === '' ||
    /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson)\b/.test(contentType)
  )
}
