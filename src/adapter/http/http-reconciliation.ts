import type { Json } from '../../shared/json.ts'
import type { ToolDefinition } from '../../tool/tool.ts'
import { type DeclaredValue, readText, type Surroundings } from '../declared-tool.ts'
import { compileFinding, type DeclaredFinding, type Finding } from '../finding.ts'
import { readJson } from '../read-json.ts'
import { compileHeaders } from './request-headers.ts'
import { compileRequestUrl } from './request-url.ts'
import { sendRequest } from './send-request.ts'

/** A request that only reads, and what its answer says about a call. */
export interface HttpReconciliation extends DeclaredFinding {
  readonly url: string
  /** Null for those of the tool. */
  readonly headers: Readonly<Record<string, DeclaredValue>> | null
}

/**
 * Asks a service what became of a call, with GET and nothing else. Only an answer counts: 2xx, 404 or 410. Whatever else comes, such as an
 * error of the service, says nothing about the call. Throws `invalid_tool` if an argument could change where requests go.
 */
export function compileReconciliation(
  declared: HttpReconciliation,
  of: {
    readonly name: string
    readonly headers: Readonly<Record<string, DeclaredValue>>
    readonly maxResultBytes: number
  },
  { vault, inputs }: Surroundings,
): NonNullable<ToolDefinition['reconcile']> {
  const { name, maxResultBytes } = of
  const makeUrl = compileRequestUrl(declared.url, {}, name)
  const makeHeaders = compileHeaders(declared.headers ?? of.headers, name, vault)
  const finding = compileFinding(declared, name, ['status', 'body'])
  return async (key, args, { signal }): Promise<Finding> => {
    const values = { args, inputs, key }
    const headers = await makeHeaders(values, 'resolved')
    // What the call sent is not sent again.
    headers.delete('content-type')
    const request = { method: 'GET', url: makeUrl(values), headers, body: null }
    const { status, contentType, bytes } = await sendRequest(request, maxResultBytes, signal)
    const answered = (status >= 200 && status < 300) || status === 404 || status === 410
    if (!answered) return { outcome: 'unknown', note: `asked what became of it, and answered with ${status}` }
    const text = readText(bytes, maxResultBytes, vault)
    const whole = bytes.length <= maxResultBytes
    const body: Json = whole && /[/+]json\b/.test(contentType) ? (readJson(text) ?? text) : text
    return finding.judge({ ...values, more: [status, body] })
  }
}
