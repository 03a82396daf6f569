import type { DocumentPath } from '../document/diagnostic.ts'
import type { PolicyCheckContext } from './check-policy.ts'

/** Reports roles that the policy does not list, where it lists any. */
export function checkRoles({ file, report, wording, didYouMean }: PolicyCheckContext): void {
  const { roles } = file
  if (roles === undefined) return
  const known = new Set(roles)
  for (const [index, role] of roles.entries()) {
    if (roles.indexOf(role) !== index) {
      report('duplicate_item', ['roles', index], `the role \`${role}\` is listed already`)
    }
  }
  const check = (role: string, path: DocumentPath, at: 'key' | 'value'): void => {
    if (known.has(role)) return
    const place = wording.place(at === 'key' ? path.slice(0, -1) : path)
    report('unknown_role', path, `${place} names the role \`${role}\`, which \`roles\` does not list`, {
      at,
      ...didYouMean(role, known),
    })
  }
  for (const role of Object.keys(file.tool_allowlist ?? {})) check(role, ['tool_allowlist', role], 'key')
  const lists: [DocumentPath, readonly string[] | undefined][] = [
    ...file.approvals.map(({ required_roles }, index): [DocumentPath, readonly string[] | undefined] => [
      ['approvals', index, 'required_roles'],
      required_roles,
    ]),
    [['approval_defaults', 'required_roles'], file.approval_defaults.required_roles],
    [['break_glass', 'roles'], file.break_glass?.roles],
  ]
  for (const [path, named] of lists) named?.forEach((role, index) => check(role, [...path, index], 'value'))
}
