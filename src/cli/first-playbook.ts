/** The playbook that `lockstep init` writes: small, valid, and commented where a reader may wonder. */
export const firstPlaybook = `# yaml-language-server: $schema=./node_modules/lockstep/schema/playbook.json
#
# A playbook is a procedure that an agent is held to. Each step names the tools that may be called in it; every other
# call is denied. Check this file with: npx lockstep check FILE

id: refund-flow
name: Refund flow
description: Pay a customer back, but only for an order that was looked up.

# What a run must be given. Conditions read it as inputs.order_id.
inputs:
  order_id: string

# Steps run in the order written. A step is complete when all its tools have succeeded.
steps:
  - id: verify_order
    description: Look up the order and confirm that it can be refunded.
    expected_tools: [lookup_order]
    hints:
      - The order number is given; do not ask for it.

  - id: issue_refund
    description: Refund the order.
    expected_tools: [refund]
    max_tool_calls: 2 # one attempt may fail

  # A step without tools ends when the agent declares it done.
  - id: tell_customer
    description: Tell the customer in one sentence what was done.
    required: false

# Rules hold whatever the step. This one ties the refund to the order that was looked up.
rules:
  - tool: refund
    require: args.order_id == inputs.order_id and succeeded("lookup_order", order_id=args.order_id)
    message: Only the order of this run, and only after it was looked up.
`
