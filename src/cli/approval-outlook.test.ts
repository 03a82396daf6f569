import { expect, test } from 'vitest'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import { tool } from '../tool/tool.ts'
import { approvalOutlook } from './approval-outlook.ts'

const text = `
name: refund
steps:
  - { name: look, tool: look }
  - { name: pay, tool: pay, required_roles: [Lead] }
`
const tools = ['look', 'pay'].map((name) =>
  tool({ name, description: name, risk: 'write', execute: () => null }),
)
const outlook = (people: Record<string, readonly string[]>) =>
  approvalOutlook(
    {
      policies: [defaultPolicy()],
      paths: [],
      people,
      principal: { id: 'ada', kind: 'local', roles: [] },
      requesters: ['ada'],
    },
    parsePlaybook(text, { format: 'yaml' }).playbook!,
    tools,
  )

test("says at the start that nobody has the role that a runbook's own step requires", () => {
  expect(outlook({ ada: ['Lead'] })).toEqual([
    expect.stringContaining(
      'NOBODY CAN APPROVE: pay needs the approval of 1 × Lead (approvals#1 of runbook.refund)',
    ),
  ])
  expect(outlook({ lin: ['Lead'] })).toEqual([])
})
