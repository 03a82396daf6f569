import type { DocumentPath } from '../document/diagnostic.ts'
import type { PolicyCheckContext } from './check-policy.ts'
import { compilePolicyExpression } from './policy-condition.ts'
import type { PolicyFile } from './policy-schema.ts'

/** The keys of the lists whose entries hold conditions. */
const lists = ['rules', 'preconditions', 'freeze', 'limits', 'approvals'] as const
const principalMembers = ['id', 'kind']

/** Reports conditions that do not parse, read what is not there, or always come out the same. */
export function checkPolicyConditions(context: PolicyCheckContext): void {
  for (const { path, key, source } of conditionsOf(context.file)) checkCondition(context, path, key, source)
}

/** Every condition of a policy with its place. */
export function* conditionsOf(
  file: PolicyFile,
): Generator<{ readonly path: DocumentPath; readonly key: 'when' | 'require'; readonly source: string }> {
  for (const list of lists) {
    for (const [index, entry] of file[list].entries()) {
      if (entry.when !== undefined) yield { path: [list, index, 'when'], key: 'when', source: entry.when }
      if ('require' in entry) yield { path: [list, index, 'require'], key: 'require', source: entry.require }
    }
  }
}

function checkCondition(
  { report, wording, didYouMean, tools }: PolicyCheckContext,
  path: DocumentPath,
  key: 'when' | 'require',
  source: string,
): void {
  const place = wording.place(path)
  const { expression, errors } = compilePolicyExpression(source)
  for (const { message, start, end } of errors) {
    report('invalid_expression', path, `${place}: ${message}`, { range: { start, end } })
  }
  if (expression === null) return
  for (const { name, path: members, start, end } of expression.references) {
    const [member] = members
    if (name !== 'principal' || member === undefined || principalMembers.includes(member)) continue
    report('invalid_expression', path, `${place}: the asker has no \`${member}\``, {
      range: { start, end },
      suggestion: member === 'roles' ? 'write `roles`' : `there are ${principalMembers.join(' and ')}`,
    })
  }
  for (const { literal, start, end } of expression.calls) {
    if (tools === null || literal === null || tools.includes(literal)) continue
    report('unknown_tool', path, `${place} asks about the tool \`${literal}\`, which does not exist`, {
      range: { start, end },
      ...didYouMean(literal, tools),
    })
  }
  const constant = constantOf(source)
  if (constant === null) return
  if (key === 'require' && constant !== true) {
    report('impossible_rule', path, `${place} never holds, so that the rule denies every call it is about`, {
      suggestion: 'write a precondition with `then: block`, if that is meant',
    })
  }
  if (key === 'when' && constant === false) {
    report('unreachable_rule', path, `${place} never holds, so that ${wording.owner(path)} never speaks`, {
      suggestion: 'remove the entry, or correct the condition',
    })
  }
  if (key === 'when' && constant === 'error') {
    report('impossible_rule', path, `${place} can never be judged, and so denies every call it is about`)
  }
}

/** What a condition that looks at nothing always comes out as; null for one that looks at something. */
export function constantOf(source: string): boolean | 'error' | null {
  const { expression } = compilePolicyExpression(source)
  if (expression === null || expression.references.length > 0 || expression.calls.length > 0) return null
  const value = expression.evaluate([], { tally: () => undefined })
  return typeof value === 'boolean' ? value : 'error'
}
