import type { DocumentPath } from '../document/diagnostic.ts'
import type { Json } from '../shared/json.ts'
import { camelKey } from './camel-keys.ts'

/** Which spelling the author used: that of files or that of TypeScript. */
export type Spelling = 'file' | 'code'

/** Below these keys every name is the user's own. */
const madeUp: ReadonlySet<string | number> = new Set([
  'metadata',
  'inputs',
  'input',
  'arguments',
  'result_schema',
  'schema',
  'default',
])

/** Names keys and places in messages the way their author spelled them. */
export class Wording {
  readonly #root: Json
  readonly #spelling: Spelling

  constructor(root: Json, spelling: Spelling) {
    this.#root = root
    this.#spelling = spelling
  }

  /** A key, quoted. */
  key(key: string): string {
    return `\`${this.#spelling === 'code' ? camelKey(key) : key}\``
  }

  /** The path with keys as the author spelled them. */
  path(path: DocumentPath): DocumentPath {
    if (this.#spelling === 'file') return path
    const border = path.findIndex((part) => madeUp.has(part))
    return path.map((part, index) =>
      typeof part === 'string' && (border === -1 || index <= border) ? camelKey(part) : part,
    )
  }

  /** What lies at the path, in words: a key of a step, a step, the playbook. */
  place(path: DocumentPath): string {
    const owner = this.owner(path)
    const inside = this.path(path).slice(ownerLength(path))
    // An item of a list is named by its list: "`hints` must be a list of strings".
    const keys = inside.filter((part) => typeof part === 'string').map(clip)
    if (keys.length === 0) return owner
    return path.length === inside.length ? `\`${keys.join('.')}\`` : `\`${keys.join('.')}\` of ${owner}`
  }

  /** The step, the rule or the playbook that the path lies in. */
  owner(path: DocumentPath): string {
    const [list, index] = path
    if (typeof index === 'number' && (list === 'steps' || list === 'rules')) {
      return list === 'steps' ? this.step(index) : `rule ${index + 1}`
    }
    return 'the playbook'
  }

  /** A step by its id, or by its number when it has none. */
  step(index: number): string {
    const id = member(member(member(this.#root, 'steps'), index), 'id')
    return typeof id === 'string' && id !== '' && id.length <= 128 ? `step \`${id}\`` : `step ${index + 1}`
  }
}

function ownerLength(path: DocumentPath): number {
  return (path[0] === 'steps' || path[0] === 'rules') && typeof path[1] === 'number' ? 2 : 0
}

/** The own member of a value, whatever the value is. */
export function member(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as { readonly [key: string | number]: Json })[key]
}

/** A name short enough for a message. */
export function clip(name: string): string {
  return name.length <= 60 ? name : `${name.slice(0, 57)}...`
}
