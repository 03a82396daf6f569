import type { Json, JsonObject } from '../shared/json.ts'
import { isJsonObject } from '../shared/json.ts'

/** Before every address of a server's resource. The name of a server has no slash, so two servers never share an address. */
const prefix = 'lockstep://server/'

/** The address, or the template of addresses, under which clients know a resource of a server. */
export function passedUri(server: string, uri: string): string {
  return `${prefix}${server}/${uri}`
}

/** Whose resource an address means, and what it is called there; null if it is the address of no server's resource. */
export function readPassedUri(uri: string): { readonly server: string; readonly uri: string } | null {
  return uri.startsWith(prefix) ? splitName(uri.slice(prefix.length), 'uri') : null
}

/** The name under which clients know a prompt of a server. */
export function passedPrompt(server: string, name: string): string {
  return `${server}/${name}`
}

/** Whose prompt a name means, and what it is called there; null if it is the name of no server's prompt. */
export function readPassedPrompt(name: string): { readonly server: string; readonly name: string } | null {
  return splitName(name, 'name')
}

/** The part of an answer with the addresses of resources as clients know them, where it embeds or links one. */
export function renameResources(part: Json, server: string): Json {
  if (!isJsonObject(part)) return part
  const { type, uri, resource } = part
  if (type === 'resource_link' && typeof uri === 'string') return { ...part, uri: passedUri(server, uri) }
  return type === 'resource' && isJsonObject(resource)
    ? { ...part, resource: renamed(resource, server) }
    : part
}

/** The same for an object that has an address itself. */
export function renamed(value: JsonObject, server: string): JsonObject {
  return typeof value['uri'] === 'string' ? { ...value, uri: passedUri(server, value['uri']) } : value
}

function splitName<Key extends string>(
  text: string,
  key: Key,
): ({ readonly server: string } & { readonly [key in Key]: string }) | null {
  const slash = text.indexOf('/')
  if (slash < 1) return null
  return { server: text.slice(0, slash), [key]: text.slice(slash + 1) } as never
}
