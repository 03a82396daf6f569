/**
 * What of servers passes besides their tools: resources and prompts, of the servers whose configuration says so.
 *
 * Owns: the names under which clients know them.
 * Talks to: the servers, and only with the methods of `PassedMethod`.
 *
 * Invariants
 * P1  A server is asked only for what its configuration lets pass; anything else is answered as if there were no such server.
 * P2  No name or address of one server can mean something of another, or of the gateway.
 * P3  What cannot be had is an error that names the server, and never an empty answer.
 */
import type {
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import {
  passedPrompt,
  passedUri,
  readPassedPrompt,
  readPassedUri,
  renamed,
  renameResources,
} from './passed-name.ts'

/** What may pass besides tools. */
export type PassedKind = 'resources' | 'prompts'

/** What a server may be asked for. */
export type PassedMethod =
  | 'resources/list'
  | 'resources/templates/list'
  | 'resources/read'
  | 'prompts/list'
  | 'prompts/get'

/** A server of which something passes, however it is reached. Its answers have the shape that MCP gives them. */
export interface PassingServer {
  readonly name: string
  readonly passes: readonly PassedKind[]
  ask(method: PassedMethod, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
}

/** What servers have, and the servers that could not say. */
export interface Listing<Item> {
  readonly items: readonly Item[]
  readonly unavailable: readonly { readonly server: string; readonly reason: string }[]
}

/** A request to one server, ready to be recorded and made. */
export interface Passing<Result extends object> {
  readonly server: string
  readonly method: PassedMethod
  /** The address or the name, as the server knows it. */
  readonly subject: string
  readonly ask: (signal: AbortSignal) => Promise<Result>
}

/** Asks servers for what passes, under names that cannot be confused. */
export class Passage {
  readonly #servers: readonly PassingServer[]

  constructor(servers: readonly PassingServer[]) {
    this.#servers = servers
  }

  /** Throws an error that names every server, if not one of them could say. */
  async resources(signal: AbortSignal): Promise<Listing<Resource>> {
    return await this.#list<Resource>('resources/list', 'resources', signal, renamed)
  }

  /** Throws like `resources`. */
  async templates(signal: AbortSignal): Promise<Listing<ResourceTemplateType>> {
    return await this.#list<ResourceTemplateType>(
      'resources/templates/list',
      'resourceTemplates',
      signal,
      (item, server) => ({ ...item, uriTemplate: passedUri(server, String(item['uriTemplate'])) }),
    )
  }

  /** Throws like `resources`. */
  async prompts(signal: AbortSignal): Promise<Listing<Prompt>> {
    return await this.#list<Prompt>('prompts/list', 'prompts', signal, (item, server) => ({
      ...item,
      name: passedPrompt(server, String(item['name'])),
    }))
  }

  /** The request for a resource by its address; null if nothing of that address may be asked for (P1). */
  resource(given: string): Passing<ReadResourceResult> | null {
    const named = readPassedUri(given)
    const server = this.#server(named?.server, 'resources')
    if (named === null || server === null) return null
    const { uri } = named
    const method = 'resources/read'
    return {
      server: server.name,
      method,
      subject: uri,
      ask: async (signal) => {
        const answer = await server.ask(method, { uri }, signal)
        const contents = objects(answer['contents']).map((each) => renamed(each, server.name))
        return { contents } as unknown as ReadResourceResult
      },
    }
  }

  /** The request for a prompt by its name; null if nothing of that name may be asked for (P1). */
  prompt(given: string, args: JsonObject): Passing<GetPromptResult> | null {
    const named = readPassedPrompt(given)
    const server = this.#server(named?.server, 'prompts')
    if (named === null || server === null) return null
    const { name } = named
    const method = 'prompts/get'
    return {
      server: server.name,
      method,
      subject: name,
      ask: async (signal) => {
        const { description, messages } = await server.ask(method, { name, arguments: args }, signal)
        const renamedMessages = objects(messages).map((message) => ({
          ...message,
          content: renameResources(message['content'] ?? null, server.name),
        }))
        const described = typeof description === 'string' ? { description } : {}
        return { ...described, messages: renamedMessages } as unknown as GetPromptResult
      },
    }
  }

  /** Says whether any server lets it pass. */
  passes(kind: PassedKind): boolean {
    return this.#servers.some(({ passes }) => passes.includes(kind))
  }

  /** Says whether resources of a server can be read here, so that links to them lead somewhere. */
  passesResources(server: string): boolean {
    return this.#server(server, 'resources') !== null
  }

  #server(name: string | undefined, kind: PassedKind): PassingServer | null {
    return this.#servers.find((each) => each.name === name && each.passes.includes(kind)) ?? null
  }

  async #list<Item>(
    method: PassedMethod,
    key: string,
    signal: AbortSignal,
    rename: (item: JsonObject, server: string) => JsonObject,
  ): Promise<Listing<Item>> {
    const kind: PassedKind = method === 'prompts/list' ? 'prompts' : 'resources'
    const servers = this.#servers.filter(({ passes }) => passes.includes(kind))
    const answers = await Promise.allSettled(servers.map((server) => server.ask(method, {}, signal)))
    const items: JsonObject[] = []
    const unavailable: { server: string; reason: string }[] = []
    for (const [index, answer] of answers.entries()) {
      const server = servers[index]!.name
      if (answer.status === 'rejected') unavailable.push({ server, reason: messageOf(answer.reason) })
      else items.push(...objects(answer.value[key]).map((item) => rename(item, server)))
    }
    if (servers.length > 0 && unavailable.length === servers.length) {
      throw new Error(unavailable.map(({ reason }) => reason).join('; '))
    }
    return { items: items as unknown as Item[], unavailable }
  }
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((each) => isJsonObject(each as Json)) : []
}
