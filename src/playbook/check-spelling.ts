import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { camelKey } from './camel-keys.ts'
import { describe } from './check-shape.ts'
import { idOfName, isGroup, mostSideBySide } from './spell-runbook.ts'
import { clip, type Spelling } from './wording.ts'

/** What the kinds of steps that runbooks have elsewhere are called here. */
const kindsElsewhere: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  llm: 'leave `tool` out and say in `description` and `expected_tools` what a model is to achieve and may call',
  human: 'ask for a decision with `requires_approval` and `required_roles` on the call that needs it',
  condition: 'give the steps that depend on it a `when`',
  loop: 'give the call a `foreach`',
  trigger: 'leave it out: who starts a run is no part of the runbook',
})

/** Reports what is wrong with the shorter spelling of runbooks, at its place in the text: names, groups, words from elsewhere. */
export function checkSpelling(value: Json, spelling: Spelling, report: Report): void {
  if (!isJsonObject(value)) return
  const key = (name: string) => (spelling === 'code' ? camelKey(name) : name)
  const { steps } = value
  checkName(value, [], 'the playbook', report)
  if (value['id'] === undefined && typeof value['name'] === 'string') {
    const none = 'a runbook needs at least one step'
    if (steps === undefined) report('missing_key', [], `\`steps\` is missing: ${none}`)
    else if (Array.isArray(steps) && steps.length === 0)
      report('out_of_range', ['steps'], `\`steps\` must not be empty: ${none}`)
  }
  if (!Array.isArray(steps)) return
  const grouped = steps.some(isGroup)
  if (grouped && value[key('strict_sequence')] !== undefined) {
    const message = `\`${key('strict_sequence')}\` and \`parallel\` exclude each other: the groups say which steps run side by side`
    report('conflicting_keys', [key('strict_sequence')], message, {
      at: 'key',
      suggestion: `remove \`${key('strict_sequence')}\``,
    })
  }
  if (!grouped) checkTogether(steps, value, key, report)
  steps.forEach((element: Json, index) => {
    if (isGroup(element)) checkGroup(element, ['steps', index], key, report)
    else if (isJsonObject(element)) checkStep(element, ['steps', index], index, grouped, key, report)
  })
}

/** Without an order every call is due at once, which is seldom meant. */
function checkTogether(
  steps: readonly Json[],
  value: JsonObject,
  key: (name: string) => string,
  report: Report,
): void {
  const calls = steps.filter((step) => isJsonObject(step) && typeof step['tool'] === 'string')
  const ordered = steps.some((step) => isJsonObject(step) && (step['after'] ?? null) !== null)
  const order = key('strict_sequence')
  if (value[order] !== false || ordered || calls.length < 2) return
  const message = `with \`${order}: false\` all ${calls.length} calls are made at once, in no order`
  report('unordered_calls', [order], message, {
    severity: 'warning',
    suggestion: 'give steps an `after`, or put those that belong side by side below `parallel`',
  })
}

function checkGroup(
  group: JsonObject,
  path: DocumentPath,
  key: (name: string) => string,
  report: Report,
): void {
  const { parallel, ...others } = group
  const place = [...path, 'parallel']
  for (const other of Object.keys(others)) {
    report(
      'conflicting_keys',
      [...path, other],
      `a group has \`parallel\` and nothing else, not \`${clip(other)}\``,
      {
        at: 'key',
        suggestion: `give \`${clip(other)}\` to each step of the group, or remove it`,
      },
    )
  }
  if (!Array.isArray(parallel)) {
    report('wrong_type', place, `\`parallel\` must be a list of steps, not ${describe(parallel!)}`)
    return
  }
  if (parallel.length === 0 || parallel.length > mostSideBySide) {
    const message = `\`parallel\` must have 1 to ${mostSideBySide} steps, not ${parallel.length}`
    report('out_of_range', place, message, {
      suggestion: parallel.length === 0 ? 'remove the group' : 'make several groups of it',
    })
  }
  parallel.slice(0, mostSideBySide).forEach((step: Json, index) => {
    const inside = [...place, index]
    if (isGroup(step)) {
      report('conflicting_keys', inside, 'a group stands inside a group, and groups do not nest', {
        suggestion:
          'write its steps into the outer group, or give every step its place with `after` and no `parallel`',
      })
    } else if (isJsonObject(step)) checkStep(step, inside, index, true, key, report)
  })
}

function checkStep(
  step: JsonObject,
  path: DocumentPath,
  index: number,
  grouped: boolean,
  key: (name: string) => string,
  report: Report,
): void {
  const owner = ownerOf(step, index)
  const isCall = typeof step['tool'] === 'string'
  checkName(step, path, owner, report)
  checkType(step, path, owner, isCall, report)
  if (isCall && step['args'] !== undefined && step['input'] !== undefined) {
    const message = `\`args\` of ${owner} is another word for \`input\`, and it has both`
    report('conflicting_keys', [...path, 'args'], message, {
      at: 'key',
      suggestion: 'write all of it below `input`',
    })
  }
  if (grouped && step['after'] !== undefined && step['after'] !== null) {
    const message = `\`after\` of ${owner} and \`parallel\` exclude each other: in a file with groups the order is the one written`
    report('conflicting_keys', [...path, 'after'], message, {
      at: 'key',
      suggestion: 'remove `after`, or write every place with `after` and no `parallel`',
    })
  }
  const roles = step[key('required_roles')]
  if (step[key('requires_approval')] === false && Array.isArray(roles) && roles.length > 0) {
    const message = `${owner} names \`${key('required_roles')}\` and says that it needs no approval`
    report('conflicting_keys', [...path, key('requires_approval')], message, {
      suggestion: `remove \`${key('requires_approval')}\`, or \`${key('required_roles')}\``,
    })
  }
}

/** A name is text, and where there is no id it has to make one. */
function checkName(owner: JsonObject, path: DocumentPath, who: string, report: Report): void {
  const { id, name } = owner
  if (name === undefined) return
  if (typeof name !== 'string') {
    // That of a playbook is a key of its own, which is judged with the others.
    if (path.length === 0) return
    const suggestion =
      typeof name === 'number' || typeof name === 'boolean' ? `write it in quotes: "${name}"` : null
    report('wrong_type', [...path, 'name'], `\`name\` of ${who} must be a string, not ${describe(name)}`, {
      suggestion,
    })
  } else if (id === undefined && idOfName(name) === '' && !(path.length === 0 && name === '')) {
    const message = `the name \`${clip(name)}\` makes no id: it has no ASCII letter and no digit`
    report('invalid_name', [...path, 'name'], message, { suggestion: `give ${who} an \`id\` besides` })
  }
}

function checkType(
  { type }: JsonObject,
  path: DocumentPath,
  owner: string,
  isCall: boolean,
  report: Report,
): void {
  if (type === undefined || (type === 'tool' && isCall)) return
  const place = [...path, 'type']
  const elsewhere = typeof type === 'string' ? kindsElsewhere[type] : undefined
  if (type === 'tool')
    report('missing_key', path, `\`tool\` of ${owner} is missing: its type says it is a call`)
  else if (elsewhere !== undefined) {
    report('not_available', place, `steps of the type \`${String(type)}\` are not available (in ${owner})`, {
      suggestion: elsewhere,
    })
  } else {
    const message = `\`type\` of ${owner} must be tool, not ${describe(type)}`
    report('value_not_allowed', place, message, { suggestion: 'leave it out' })
  }
}

function ownerOf({ id, name }: JsonObject, index: number): string {
  const called = typeof id === 'string' && id !== '' ? id : typeof name === 'string' ? idOfName(name) : ''
  return called === '' || called.length > 128 ? `step ${index + 1}` : `step \`${called}\``
}
