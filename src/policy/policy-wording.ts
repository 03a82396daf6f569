import type { DocumentPath } from '../document/diagnostic.ts'
import { Wording, clip, member } from '../playbook/wording.ts'
import type { Json } from '../shared/json.ts'

const singular: Readonly<Record<string, string>> = {
  rules: 'rule',
  preconditions: 'precondition',
  approvals: 'approval',
  freeze: 'freeze',
  limits: 'limit',
}

/** Names keys and places of a policy in messages. */
export class PolicyWording extends Wording {
  readonly #root: Json

  constructor(root: Json) {
    super(root, 'file')
    this.#root = root
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
    if (entry === null) return 'the policy'
    const id = member(member(member(this.#root, entry.list), entry.index), 'id')
    const named = typeof id === 'string' && id !== ''
    return `${singular[entry.list]} ${named ? `\`${clip(id)}\`` : entry.index + 1}`
  }
}

function entryOf([list, index]: DocumentPath): { list: string; index: number } | null {
  return typeof list === 'string' && Object.hasOwn(singular, list) && typeof index === 'number'
    ? { list, index }
    : null
}
