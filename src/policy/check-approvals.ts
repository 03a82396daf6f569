import type { DocumentPath } from '../document/diagnostic.ts'
import type { PolicyCheckContext } from './check-policy.ts'
import type { ApprovalTermsFile } from './policy-schema.ts'

/** Reports approvals that nobody could ever give, and terms that are never used. */
export function checkApprovals({ file, report, wording }: PolicyCheckContext): void {
  const check = (terms: ApprovalTermsFile, path: DocumentPath): void => {
    const { approvers, count } = { ...file.approval_defaults, ...terms }
    if (approvers === undefined || count === undefined) return
    const persons = new Set(approvers).size
    if (count <= persons) return
    const key = terms.count === undefined ? 'approvers' : 'count'
    const message = `${wording.owner(path)} asks for ${count} approvals, and only ${persons} may approve`
    report('impossible_rule', [...path, key], message, {
      suggestion: 'name more persons, or ask for fewer approvals',
    })
  }
  check(file.approval_defaults, ['approval_defaults'])
  for (const [
    index,
    { id: _, tool: _tool, step: _step, when: _when, message: _message, ...terms },
  ] of file.approvals.entries()) {
    check(terms, ['approvals', index])
  }
}
