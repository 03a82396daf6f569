/** What a new policy begins with. */
export const policyTemplate = `id: production
version: "1"
description: What may be done in production.
roles: [Admin, SRE, OnCall]
tool_allowlist:
  Admin: ["*"]
  SRE: ["practice.*"]
  OnCall: ["practice.get_*", "practice.list_*"]
approvals:
  - id: drains
    tool: practice.drain_node
    required_roles: [OnCall]
    message: Somebody on call looks at every drain.
`

/** What its test cases begin with. */
export const exampleCases = `cases:
  - name: somebody on call may look
    request: { tool: practice.get_node, args: { node: node-7 }, risk: read }
    facts: { principal: ada, roles: [OnCall] }
    expect: { verdict: allow }
  - name: and may not drain
    request: { tool: practice.drain_node, args: { node: node-7 }, risk: write }
    facts: { principal: ada, roles: [OnCall] }
    expect: { verdict: deny }
  - name: an SRE asks before draining
    request: { tool: practice.drain_node, args: { node: node-7 }, risk: write }
    facts: { principal: ada, roles: [SRE] }
    expect: { verdict: needs_approval }
`
