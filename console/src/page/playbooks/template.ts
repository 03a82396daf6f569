import type { Format } from '../../editor/check-text.ts'

const runbook = `id: cordon-and-check
name: Cordon a node
description: Takes a node out of service and looks whether it is.
inputs:
  node:
    type: string
    description: The node, such as node-7.
steps:
  - id: cordon
    tool: practice.cordon_node
    input:
      node: "{inputs.node}"
    compensate:
      tool: practice.uncordon_node
      input:
        node: "{inputs.node}"
  - id: look
    tool: practice.get_node
    input:
      node: "{inputs.node}"
`

const typed = `id: answer-a-customer
name: Answer a customer
description: An agent looks the order up before it answers.
steps:
  - id: look-up
    description: Look the order up.
    expected_tools: [practice.lookup_order]
  - id: answer
    description: Answer the customer in three sentences.
    expected_tools: []
`

const markdown = `# Refund desk

## Look at a request
Somebody wants their money back.

### Triggers
- At the beginning

### Steps
- Ask the user for the $order_id
- $order = practice.lookup_order($order_id)
- If $order.total > 500
  - Say "Somebody has to look at this: $order.total is more than I may decide."
- Otherwise
  - Say "You will have your $order.total back within a week."
- End program
`

/** What a new playbook begins with, by its form. */
export const templates = {
  runbook: { label: 'Runbook: calls, one after another', format: 'yaml', text: runbook },
  typed: { label: 'Typed: steps for an agent', format: 'yaml', text: typed },
  markdown: { label: 'Markdown: plain language', format: 'markdown', text: markdown },
} as const satisfies Record<string, { label: string; format: Format; text: string }>

export type TemplateName = keyof typeof templates
