import type { Client } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../shared/json.ts'

/** What a server may be asked besides calling its tools, where the configuration says so. */
export type PassedMethod =
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'prompts/list'
  | 'prompts/get'

/** How long to wait, and who may stop it. */
export interface AskOptions {
  readonly signal: AbortSignal
  readonly timeout: number
}

/** Asks a server; lists are whole, whatever their pages. Nothing is kept, so that no answer is older than the question. */
export async function askServer(
  client: Client,
  method: PassedMethod,
  params: JsonObject,
  { signal, timeout }: AskOptions,
): Promise<object> {
  // The limit holds for all pages of a list together.
  const options = { signal, timeout, maxTotalTimeout: timeout, cacheMode: 'bypass' } as const
  switch (method) {
    case 'resources/list':
      return await client.listResources(undefined, options)
    case 'resources/templates/list':
      return await client.listResourceTemplates(undefined, options)
    case 'resources/read':
      return await client.readResource({ uri: String(params['uri']) }, options)
    case 'prompts/list':
      return await client.listPrompts(undefined, options)
    case 'prompts/get':
      return await client.getPrompt(
        { name: String(params['name']), arguments: params['arguments'] as Record<string, string> },
        options,
      )
  }
}
