import type { Json } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { type Tool, tool } from '../../tool/tool.ts'
import {
  type DeclaredTool,
  type DeclaredValue,
  type Surroundings,
  commonDefinition,
  readText,
  resolveSecret,
} from '../declared-tool.ts'
import { maskTool } from '../masked-tool.ts'
import { readJson } from '../read-json.ts'
import { showReference, type SecretVault } from '../secret-vault.ts'
import { type CallValues, compileJsonTemplate, compileToolTemplate, fillText } from '../tool-template.ts'
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
}

type FilledHeaders = (values: CallValues, secrets: 'resolved' | 'shown') => Promise<Headers>

/** Makes a tool that sends a request. Throws `invalid_tool` if an argument could change where requests go. */
export function createHttpTool(declared: HttpToolDeclaration, { vault, inputs }: Surroundings): Tool {
  const { name, method } = declared
  const makeUrl = compileRequestUrl(declared.url, declared.query, name)
  const makeBody =
    declared.body === undefined ? null : compileJsonTemplate(declared.body, `The body of '${name}'`)
  const makeHeaders = compileHeaders(declared, vault)
  const prepare = async (args: CallValues['args'], secrets: 'resolved' | 'shown') => {
    const values = { args, inputs }
    const url = makeUrl(values)
    const headers = await makeHeaders(values, secrets)
    return { method, url, headers, body: makeBody === null ? null : writeBody(makeBody(values), headers) }
  }
  const made = tool({
    ...commonDefinition(declared),
    async execute(args, { signal }) {
      const response = await sendRequest(await prepare(args, 'resolved'), declared.maxResultBytes, signal)
      return readResponse(response, declared, vault)
    },
    async dryRun(args) {
      const { url, headers, body } = await prepare(args, 'shown')
      return { request: `${method} ${url.href}`, headers: Object.fromEntries(headers), body }
    },
  })
  return maskTool(made, vault)
}

function compileHeaders(declared: HttpToolDeclaration, vault: SecretVault): FilledHeaders {
  const headers = Object.entries(declared.headers).map(([header, value]) => {
    const what = `The header '${header}' of '${declared.name}'`
    const template = value.kind === 'text' ? compileToolTemplate(value.text, what) : null
    return { header, value, what, template }
  })
  return async (values, secrets) => {
    const filled = new Headers()
    for (const { header, value, what, template } of headers) {
      if (template !== null) filled.set(header, headerText(fillText(template, values), what))
      else if (value.kind === 'secret') {
        const secret =
          secrets === 'shown' ? showReference(value.reference) : await resolveSecret(value.reference, vault)
        filled.set(header, headerText(value.prefix + secret, what))
      }
    }
    return filled
  }
}

/** A line break in a header would begin another header. */
function headerText(text: string, what: string): string {
  if (/^[\t\x20-\x7e\u00a0-\u00ff]*$/.test(text)) return text
  throw new ToolFailure(
    `${what} cannot be filled in with line breaks, control characters or letters outside Latin-1`,
  )
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
