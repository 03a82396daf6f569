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

  # A step without tools ends when the agent declares it done.
  - id: tell_customer
    description: Tell the customer in one sentence what was done.
    required: false

# Rules hold whatever the step. The first ties the refund to the order that was looked up. The second lets an attempt that
# failed be repeated, and nothing that has, or may have, taken effect.
rules:
  - tool: refund
    require: args.order_id == inputs.order_id and succeeded("lookup_order", order_id=args.order_id)
    message: Only the order of this run, and only after it was looked up.
  - tool: refund
    require: count("refund") == 0
    message: The order is refunded once.
`
