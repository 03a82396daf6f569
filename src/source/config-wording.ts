import type { DocumentPath } from '../document/diagnostic.ts'
import { camelKey } from '../playbook/camel-keys.ts'
import { type Spelling, Wording, clip, member } from '../playbook/wording.ts'
import type { Json } from '../shared/json.ts'

/** Below these keys every name is the user's own. */
const madeUp: ReadonlySet<string | number> = new Set([
  'headers',
  'query',
  'env',
  'body',
  'stdin',
  'input',
  'mcpServers',
  'people',
])

/** Names keys and places of a configuration the way their author spelled them. */
export class ConfigWording extends Wording {
  readonly #root: Json
  readonly #spelling: Spelling

  constructor(root: Json, spelling: Spelling) {
    super(root, spelling)
    this.#root = root
    this.#spelling = spelling
  }

  override path(path: DocumentPath): DocumentPath {
    if (this.#spelling === 'file') return path
    const border = path.findIndex((part) => madeUp.has(part))
    return path.map((part, index) =>
      typeof part === 'string' && (border === -1 || index <= border) ? camelKey(part) : part,
    )
  }

  override place(path: DocumentPath): string {
    const length = ownerLength(path)
    const keys = this.path(path)
      .slice(length)
      .filter((part) => typeof part === 'string')
      .map(clip)
    if (keys.length === 0) return this.owner(path)
    return length === 0 ? `\`${keys.join('.')}\`` : `\`${keys.join('.')}\` of ${this.owner(path)}`
  }

  override owner(path: DocumentPath): string {
    if (ownerLength(path) === 3) {
      const name = member(member(member(member(this.#root, 'tools'), path[1]!), path[2]!), 'name')
      const called = typeof name === 'string' && name !== '' ? `\`${clip(name)}\`` : Number(path[2]) + 1
      return `the ${path[1]} tool ${called}`
    }
    return ownerLength(path) === 2 ? `the MCP server \`${clip(String(path[1]))}\`` : 'the configuration'
  }
}

function ownerLength([first, second, third]: DocumentPath): 0 | 2 | 3 {
  if (first === 'mcpServers' && second !== undefined) return 2
  const listed = first === 'tools' && (second === 'http' || second === 'exec') && typeof third === 'number'
  return listed ? 3 : 0
}
