import type { DocumentPath } from '../document/diagnostic.ts'
import { Wording, clip, member } from '../playbook/wording.ts'
import type { Json } from '../shared/json.ts'

const singular: Readonly<Record<string, string>> = {
  rules: 'rule',
  preconditions: 'precondition',
  approvals: 'approval',
  freeze: 'freeze',
  limits: 'limit',
  cases: 'case',
}

/** Names keys and places of a policy in messages. */
export class PolicyWording extends Wording {
  readonly #root: Json
  readonly #whole: string

  constructor(root: Json, whole = 'the policy') {
    super(root, 'file')
    this.#root = root
    this.#whole = whole
  }

  override place(path: DocumentPath): string {
    const length = entryOf(path) === null ? 0 : 2
    const keys = path
      .slice(length)
      .filter((part) => typeof part === 'string')
      .map(clip)
    if (keys.length === 0) return this.owner(path)
    return length === 0 ? `\`${keys.join('.')}\`` : `\`${keys.join('.')}\` of ${this.owner(path)}`
  }

  override owner(path: DocumentPath): string {
    const entry = entryOf(path)
    if (entry === null) return this.#whole
    const item = member(member(this.#root, entry.list), entry.index)
    const id = member(item, entry.list === 'cases' ? 'name' : 'id')
    const named = typeof id === 'string' && id !== ''
    return `${singular[entry.list]} ${named ? `\`${clip(id)}\`` : entry.index + 1}`
  }
}

function entryOf([list, index]: DocumentPath): { list: string; index: number } | null {
  return typeof list === 'string' && Object.hasOwn(singular, list) && typeof index === 'number'
    ? { list, index }
    : null
}
