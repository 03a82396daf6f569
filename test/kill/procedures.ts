/** The procedures that are killed, each with what it needs to be worked on. All of them act on the practice service. */
import type { LanguageModelV4, LanguageModelV4Content } from '@ai-sdk/provider'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { answeringModel } from '../../src/agent/answering-model.ts'
import { noModel } from '../../src/agent/no-model.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { Playbook } from '../../src/playbook/playbook.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { createPracticeTools } from '../../src/practice/practice-tools.ts'
import { programTool } from '../../src/playbook/program-tool.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { tool, type Tool } from '../../src/tool/tool.ts'

/** Something to work through, and what goes wrong with it on purpose. */
export interface Procedure {
  readonly playbook: Playbook
  /** Faults of the practice service, as in `PRACTICE_FAULTS`. */
  readonly faults: string
  /** The model, which has answered so many times before. */
  readonly model: (answered: number) => LanguageModelV4
  readonly policy?: AgentOptions['policy']
}

/** Approvals, a check, retries, steps side by side, a list of items; `last` is what the last step drains. */
const runbook = (last: string) => `
name: ${last === 'node-7' ? 'goes-well' : 'is-undone'}
on_failure: compensate
inputs:
  nodes: { type: array, default: [node-1, node-2, node-3] }
steps:
  - name: cordon
    tool: practice.cordon_node
    input: { node: node-7 }
    requires_approval: true
    required_roles: [OnCall]
    compensate: { tool: practice.uncordon_node, input: { node: node-7 } }
    verify: { tool: practice.get_node, input: { node: node-7 }, expect: result.cordoned }
  - name: deploy
    tool: practice.deploy
    input: { service: web, release: v43 }
    retry: { attempts: 3, delay_seconds: 0.02, backoff: 1 }
    compensate: { tool: practice.rollback, input: { service: web, release: "{output.from}" } }
  - parallel:
      - { name: restart, tool: practice.restart_service, input: { service: api } }
      - { name: notify, tool: practice.notify_customer, input: { customer_id: C-7, text: "{steps.deploy.output.release}" } }
      - { name: refund, tool: practice.refund, input: { order_id: ORD-42, amount: 5 } }
  - name: fence
    tool: practice.cordon_node
    foreach: "{inputs.nodes}"
    concurrency: 2
    input: { node: "{item}" }
    compensate: { tool: practice.uncordon_node, input: { node: "{item}" } }
  - name: drain
    tool: practice.drain_node
    input: { node: ${last} }
`

/** Its one call that writes has no key, and nobody can say what became of it. */
const keyless = `
name: keyless
steps:
  - { name: look, tool: practice.get_release, input: { service: web } }
  - { name: restart, tool: restart_without_key, input: { service: web } }
  - { name: notify, tool: practice.notify_customer, input: { customer_id: C-7, text: "{steps.look.output.release}" } }
`

const typed = `
id: typed
name: Typed
allow_extra_tools: false
steps:
  - { id: look, description: Look the order up., expected_tools: [practice.lookup_order] }
  - { id: pay, description: Pay it back., expected_tools: [practice.refund], max_tool_calls: 2 }
  - { name: restart, tool: practice.restart_service, input: { service: web } }
  - { id: tell, description: Tell the customer., expected_tools: [practice.notify_customer] }
`

/** A model that forgets everything: it tries to pay first, and from then on does what it is offered. */
const typedModel = answeringModel({ provider: 'test', modelId: 'test' }, async ({ prompt, tools = [] }) => {
  const work: Readonly<Record<string, JsonObject>> = {
    practice_lookup_order: { order_id: 'ORD-42' },
    practice_refund: { order_id: 'ORD-42', amount: 30 },
    practice_notify_customer: { customer_id: 'C-7', text: 'Paid.' },
  }
  const begins = prompt.every(({ role }) => role !== 'assistant')
  const offered = tools.map(({ name }) => name).find((name) => work[name] !== undefined)
  const toolName = begins ? 'practice_refund' : offered
  const input = JSON.stringify(work[toolName ?? ''])
  const content: LanguageModelV4Content =
    toolName === undefined
      ? { type: 'text', text: 'The customer knows.' }
      : { type: 'tool-call', toolCallId: 'only', toolName, input }
  return { content: [content], promptTokens: 1, completionTokens: 1 }
})

const policyText = `
id: money
approvals:
  - { tool: practice.refund, required_roles: [OnCall] }
  - { tool: refund, required_roles: [OnCall] }
`

const program = `
# Desk

## Main

### Triggers
- At the beginning

### Steps
- Ask user for $order_id
- $order = lookup_order(order_id=$order_id)
- For each $node in ["node-1", "node-2"]
  - cordon_node(node=$node)
- If the customer sounds upset
  - notify_customer(customer_id=$order.customer_id, text="Sorry")
- $receipt = Pay($order_id, $order.total)
- Return $receipt

## Pay($order_id:str, $amount:float)

### Steps
- $refund = refund(order_id=$order_id, amount=$amount)
- Return $refund.refund_id
`

/** A tool that the practice service cannot tell from another one of its kind: it sends no key. */
function keylessTool(url: string): Tool {
  return tool({
    name: 'restart_without_key',
    description: 'Restarts a service of the practice cluster, once for each time it is asked.',
    risk: 'write',
    execute: async ({ service }, { signal }) => {
      const path = `/services/${String(service)}/restart`
      const answer = await fetch(url + path, { method: 'POST', body: '{}', signal })
      if (!answer.ok) throw new Error(`it answered ${answer.status}`)
      return (await answer.json()) as { restarts: number }
    },
  })
}

/** The tools of every procedure. A Markdown playbook calls them by their last word. */
export function toolsOf(url: string): Tool[] {
  const practice = createPracticeTools(async () => url)
  const short = practice.map((each) => ({ ...each, name: each.name.replace(/^practice[.]/, '') }))
  return [...practice, ...short, keylessTool(url)]
}

function parse(text: string): Playbook {
  const { playbook, diagnostics } = parsePlaybook(text, { format: 'yaml' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return playbook
}

function money(): AgentOptions['policy'] {
  const { policy, diagnostics } = parsePolicy(policyText, { format: 'yaml' })
  if (policy === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return { policies: [compilePolicy(policy)], principal: { id: 'local', kind: 'local', roles: [] } }
}

function parseMarkdown(text: string): Playbook {
  const tools = toolsOf('').map(programTool)
  const { program: read, diagnostics } = parseProgram([{ file: 'desk.md', text }], { tools })
  if (read === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return programPlaybook(read, 'desk')
}

const quiet = { faults: '', model: () => noModel } as const

/** Every procedure by its name; read when it is asked for, because a child needs one of them. */
const procedures = {
  'is-undone': () => ({ ...quiet, playbook: parse(runbook('node-9')), faults: 'practice.deploy=fail*2' }),
  'goes-well': () => ({ ...quiet, playbook: parse(runbook('node-7')), faults: 'practice.deploy=fail*2' }),
  keyless: () => ({ ...quiet, playbook: parse(keyless) }),
  typed: () => ({ ...quiet, playbook: parse(typed), model: () => typedModel, policy: money() }),
  program: () => ({
    ...quiet,
    playbook: parseMarkdown(program),
    model: (answered: number) =>
      scriptedModel({ turns: [{ extract: { order_id: 'ORD-42' } }, { judge: true }] }, 'script', answered),
    policy: money(),
  }),
} satisfies Record<string, () => Procedure>

export type ProcedureName = keyof typeof procedures

const known = new Map<ProcedureName, Procedure>()

export function procedureOf(name: ProcedureName): Procedure {
  const procedure = known.get(name) ?? procedures[name]()
  known.set(name, procedure)
  return procedure
}
