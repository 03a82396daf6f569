/** What a new policy begins with. */
export const policyTemplate = `id: production
version: "1"
description: What may be done in production.
roles: [Admin, SRE, OnCall]
tool_allowlist:
  Admin: ["*"]
  SRE: ["practice.*"]
  OnCall: ["practice.get_*", "practice.list_*"]
preconditions:
  - when: "context.env == 'prod'"
    then: require_approval
`
