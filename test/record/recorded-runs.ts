import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '../../src/agent/agent.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { Playbook } from '../../src/playbook/playbook.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import { dueCalls } from '../../src/run/due-calls.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import type { EnforcerOptions } from '../../src/tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { RunRecord } from '../../src/tool/run-record.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { ToolRegistry } from '../../src/tool/tool-registry.ts'
import { tool } from '../../src/tool/tool.ts'
import { programOf } from '../program/run-case.ts'

const author = { tenant: 'acme', principal: 'ada' }

const refundPlaybook = definePlaybook({
  id: 'refund',
  name: 'Refund',
  steps: [
    { id: 'look', description: 'Look.', expectedTools: ['lookup'] },
    { id: 'pay', description: 'Pay.', expectedTools: ['refund'], maxToolCalls: 1 },
  ],
  rules: [{ tool: 'refund', require: 'args.amount <= 1000', message: 'too much' }],
})

const policyText = `
id: money
version: "3"
tool_allowlist:
  agent: [lookup, refund]
preconditions:
  - tool: refund
    when: args.amount > 500
    then: block
    message: never more than 500
approvals:
  - tool: refund
    required_roles: [lead]
limits:
  - id: few
    tool: lookup
    max_calls: 3
    per: 1h
    scope: run
`

const runbookText = `
name: rollback
on_failure: compensate
steps:
  - name: cordon
    tool: cordon
    input: { node: n7 }
    compensate: { tool: uncordon, input: { node: n7 } }
  - name: rollback
    tool: rollback
    input: { service: web }
    retry: { attempts: 2, delay_seconds: 0 }
`

const programText = `
# Desk

## Main

### Triggers
- At the beginning

### Steps
- $order = lookup(id="ORD-42")
- If $order > 20
  - refund(amount=30)
- Say "done"
- End program
`

const work = {
  lookup: () => 30,
  refund: () => ({ paid: true }),
  cordon: () => 'cordoned',
  uncordon: () => 'uncordoned',
  rollback: () => {
    throw new ToolFailure('no such version')
  },
} as const

const tools = Object.entries(work).map(([name, execute]) =>
  tool({ name, description: name, risk: name === 'lookup' ? 'read' : 'write', execute }),
)

/** The kinds of runs there are, each by its name. */
export const kinds = ['list', 'policy', 'program', 'runbook'] as const

export type Kind = (typeof kinds)[number]

/** One run of every kind in one store, exported with the chain of the tenant; and what was to be kept elsewhere. */
export async function recordRuns() {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-tampering-'))
  const keys = openKeyRing(join(folder, 'keys'))
  const journal = new SqliteJournal(join(folder, 'journal.db'), keys)
  try {
    await recordList(journal)
    await recordPolicy(journal)
    await recordProgram(journal)
    await recordRunbook(journal)
    const lines = await exportChains(journal, kinds, { tenants: ['acme'] })
    const redact = (data: JsonObject) =>
      JSON.parse(JSON.stringify(data).replaceAll('"reason":"seen"', '"reason":"[redacted]"')) as JsonObject
    const redacted = await exportChains(journal, kinds, { tenants: ['acme'], redact })
    const checkpoint = await journal.checkpoint('list', 9_999)
    const publicKeys = { [keys.current.id]: keys.current.publicKey }
    return { lines, redacted, checkpoint, publicKeys }
  } finally {
    await journal.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function enforce(
  journal: SqliteJournal,
  run: Kind,
  playbook: Playbook,
  policy: Pick<EnforcerOptions, 'policy'> = {},
) {
  const record = new RunRecord(run, journal, author)
  const registry = new ToolRegistry(tools)
  await record.keep({ playbook, policies: policy.policy?.policies ?? [], tools: registry })
  let now = 1_000
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
    run,
    tools,
    clock: () => (now += 10),
    onEvents: (events) => record.write(events),
    ...policy,
  })
  const call = (name: string, args: JsonObject, callId?: string) =>
    enforcer.call(name, args, undefined, callId === undefined ? {} : { callId })
  return { enforcer, call, now: () => now }
}

async function recordList(journal: SqliteJournal): Promise<void> {
  const { enforcer, call } = await enforce(journal, 'list', refundPlaybook)
  await call('refund', { amount: 5 })
  await call('lookup', { order: 'ORD-42' })
  await call('refund', { amount: 3000 })
  await call('refund', { amount: 30 })
  enforcer.finish('done')
  await enforcer.written()
}

async function recordPolicy(journal: SqliteJournal): Promise<void> {
  const { policy, diagnostics } = parsePolicy(policyText, { format: 'yaml' })
  if (policy === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  const setup = {
    policies: [compilePolicy(policy)],
    principal: { id: 'ada', kind: 'local', roles: ['agent'] },
  } as const
  const { enforcer, call } = await enforce(journal, 'policy', refundPlaybook, { policy: setup })
  await call('lookup', { order: 'ORD-42' })
  await call('refund', { amount: 900 })
  const held = await call('refund', { amount: 30 })
  const { callId } = held.enforcement!
  const vote = {
    person: 'bob',
    identity: 'local',
    roles: ['lead'],
    reason: 'seen',
    answer: 'approve',
  } as const
  enforcer.gate.vote(callId!, vote)
  await call('refund', { amount: 30 }, callId!)
  enforcer.finish('done')
  await enforcer.written()
}

async function recordProgram(journal: SqliteJournal): Promise<void> {
  const known = tools.map(({ name, risk }) => ({
    name,
    risk,
    parameters: name === 'lookup' ? ['id'] : ['amount'],
  }))
  const playbook = programPlaybook(programOf({ text: programText, tools: known.slice(0, 2) }), 'desk')
  const model = scriptedModel({ turns: [{ text: 'nothing' }] }, 'none')
  const agent = new Agent({ model, playbook, journal, tools, ...author })
  const { status, reason } = await agent.run('', { run: 'program' })
  if (status !== 'succeeded') throw new Error(reason ?? status)
}

async function recordRunbook(journal: SqliteJournal): Promise<void> {
  const { playbook, diagnostics } = parsePlaybook(runbookText, { format: 'yaml' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  const { enforcer, call, now } = await enforce(journal, 'runbook', playbook)
  for (let turn = 0; enforcer.status === null && turn < 20; turn++) {
    for (const due of dueCalls(enforcer.gate.state, now()).due) await call(due.tool, due.args, due.callId)
    enforcer.checkTime()
  }
  await enforcer.written()
}
