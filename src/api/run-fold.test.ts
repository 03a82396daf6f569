import { describe, expect, test } from 'vitest'
import { Agent } from '../agent/agent.ts'
import { scriptedModel } from '../agent/scripted-model.ts'
import { MemoryJournal } from '../journal/memory/memory-journal.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { definePlaybook } from '../playbook/define-playbook.ts'
import { readBack } from '../playbook/explain/read-back.ts'
import { parseProgram } from '../playbook/markdown/parse-program.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { heldCalls } from '../overview/held-call.ts'
import { CardFold } from '../overview/run-card.ts'
import { sendEntry, sendTime } from '../overview/send-entry.ts'
import { compilePolicy } from '../policy/compile-policy.ts'
import { policyOf } from '../policy/policy.ts'
import { policySchema } from '../policy/policy-schema.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import { tool } from '../tool/tool.ts'
import { blankRun } from './blank-run.ts'
import { RunFold, type RunPage } from './run-fold.ts'
import { run as runShape } from './run-shapes.ts'

const tools = [
  tool({
    name: 'look',
    description: 'Looks.',
    risk: 'read',
    execute: () => ({ found: 'sk-abcdefghijklmnop1234' }),
  }),
  tool({ name: 'drain', description: 'Drains.', risk: 'write', execute: () => ({ ok: true }) }),
  tool({
    name: 'break',
    description: 'Breaks.',
    risk: 'write',
    execute: () => {
      throw new ToolFailure('it broke')
    },
  }),
]

function blank(playbook: Playbook): RunPage {
  return blankRun('r_1', playbook.name, readBack(playbook).flow)
}

/** The page after every entry, and the same page made in two halves, cut anywhere. */
function pagesOf(playbook: Playbook, entries: readonly JournalEntry[]): RunPage[] {
  const sent = entries.map(sendEntry)
  const pages: RunPage[] = []
  const fold = new RunFold(blank(playbook))
  for (const entry of sent) {
    expect(fold.apply(entry)).toBe(true)
    pages.push(fold.page)
  }
  const last = pages.at(-1)!
  expect(runShape.parse(JSON.parse(JSON.stringify(last)))).toEqual(last)
  for (const [index, page] of pages.entries()) {
    const second = new RunFold(JSON.parse(JSON.stringify(page)) as RunPage)
    // What is known already is passed over.
    for (const entry of sent.slice(Math.max(0, index - 1))) expect(second.apply(entry)).toBe(true)
    expect(second.page).toEqual(last)
  }
  return pages
}

/** Lists and pages say the same of a run. */
function expectSameCard(page: RunPage, entries: readonly JournalEntry[]): void {
  const fold = new CardFold()
  for (const entry of entries) fold.apply(entry)
  const card = fold.card(0, page.runbook.name)!
  const { status, reason, calls, denied, tokens, cost, waiting, mode, startedBy, digest } = card
  expect(page).toMatchObject({
    status,
    reason,
    calls,
    denied,
    tokens,
    cost,
    waiting,
    mode,
    startedBy,
    digest,
  })
  expect(page.startedAt).toBe(sendTime(card.startedAt))
  expect(page.endedAt).toBe(card.endedAt === null ? null : sendTime(card.endedAt))
  const held = heldCalls(entries, 0).map(({ id, state }) => ({ id, state }))
  expect(page.approvals.map(({ id, state }) => ({ id, state }))).toEqual(held)
}

describe('RunFold', () => {
  test('shows a runbook that waits, is approved, fails and is undone', async () => {
    const playbook = definePlaybook({
      id: 'node',
      name: 'Drain a node',
      steps: [
        { id: 'look', tool: 'look' },
        { id: 'drain', tool: 'drain', requiresApproval: true, compensate: { tool: 'look' } },
        { id: 'break', tool: 'break' },
      ],
    })
    const source = { id: 'team', version: '1' }
    const policies = [compilePolicy(policyOf(policySchema.parse(source), source))]
    const principal = { id: 'ann', kind: 'local', roles: [] } as const
    const journal = new MemoryJournal()
    const agent = new Agent({
      playbook,
      tools,
      journal,
      model: 'none',
      policy: { policies, principal },
      principal: 'ann',
    })
    await agent.run('', {
      run: 'r_1',
      origin: { project: 'prj_1', model: 'none', runbook: { id: 'rb_1', name: 'Drain a node', version: 2 } },
    })
    const before = await journal.read('r_1')
    const waiting = pagesOf(playbook, before).at(-1)!
    expect(waiting).toMatchObject({
      status: 'waiting',
      project: 'prj_1',
      runbook: { id: 'rb_1', version: 2 },
      waitsFor: [{ kind: 'approval' }],
      approvals: [{ tool: 'drain', state: 'waiting', votes: [] }],
      callList: [
        { tool: 'look', state: 'succeeded', result: { found: '[redacted]' } },
        { tool: 'drain', state: 'held', byModel: false },
      ],
    })
    expect(waiting.callList[1]!.approval).toBe(waiting.approvals[0]!.id)
    expectSameCard(waiting, before)
    await agent.vote('r_1', 'drain', {
      person: 'bob',
      identity: 'local',
      roles: [],
      answer: 'approve',
      reason: 'go',
    })
    await agent.resume('r_1')
    const entries = await journal.read('r_1')
    const page = pagesOf(playbook, entries).at(-1)!
    expect(page).toMatchObject({
      status: 'failed',
      waitsFor: [],
      approvals: [{ state: 'used', votes: [{ person: 'bob', answer: 'approve', reason: 'go' }] }],
    })
    expect(page.steps.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'look completed',
      'drain completed',
      'break failed',
    ])
    expect(page.callList.map(({ tool: name, state, undoes }) => [name, state, undoes])).toEqual([
      ['look', 'succeeded', null],
      ['drain', 'succeeded', null],
      ['break', 'failed', null],
      ['look', 'succeeded', 'drain'],
    ])
    expectSameCard(page, entries)
  })

  test('shows what a model proposed, what was denied it, what it said and what that took', async () => {
    const playbook = definePlaybook({
      id: 'desk',
      name: 'Desk',
      steps: [
        { id: 'first', description: 'Look.', expectedTools: ['look'] },
        { id: 'second', description: 'Drain.', expectedTools: ['drain'] },
      ],
    })
    const model = scriptedModel({
      turns: [
        { calls: [{ tool: 'drain', arguments: { node: 'n1' } }], usage: { prompt: 10, completion: 5 } },
        { text: 'Looking.', calls: [{ tool: 'look' }], usage: { prompt: 10, completion: 5 } },
        { calls: [{ tool: 'drain' }], usage: { prompt: 10, completion: 5 } },
        { text: 'Done.', usage: { prompt: 10, completion: 5 } },
      ],
    })
    const journal = new MemoryJournal()
    await new Agent({ playbook, tools, journal, model }).run('Go.', { run: 'r_1' })
    const entries = await journal.read('r_1')
    const page = pagesOf(playbook, entries).at(-1)!
    expect(page).toMatchObject({
      status: 'succeeded',
      denied: 1,
      calls: 2,
      tokens: 60,
      cost: null,
      reason: null,
    })
    expect(page.callList[0]).toMatchObject({
      tool: 'drain',
      args: { node: 'n1' },
      state: 'denied',
      code: 'out_of_sequence',
      byModel: true,
    })
    expect(page.conversation.map(({ from, text }) => `${from}: ${text}`)).toEqual([
      'model: Looking.',
      'model: Done.',
    ])
    expect(page.notices).toMatchObject([{ kind: 'task', text: 'Go.' }])
    expectSameCard(page, entries)
  })

  test('shows a program that asks a person, and that it waits for the answer', async () => {
    const text =
      '# Greeter\nGreets.\n\n## Greet\nGreets.\n\n### Triggers\n- At the beginning\n\n### Steps\n- Say "Who are you?"\n- Wait for the user\n- Say "Bye"\n'
    const { program, diagnostics } = parseProgram([{ file: 'p.md', text }], {
      tools: [],
      resolveImport: () => ({ problem: 'none' }),
    })
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
    const playbook = programPlaybook(program!, 'greeter')
    const journal = new MemoryJournal()
    const agent = new Agent({
      playbook,
      tools: [],
      journal,
      model: 'none',
    })
    await agent.run('', { run: 'r_1' })
    const entries = await journal.read('r_1')
    const page = pagesOf(playbook, entries).at(-1)!
    expect(page).toMatchObject({ status: 'waiting', waitsFor: [{ kind: 'answer' }] })
    expect(page.conversation[0]).toMatchObject({ from: 'playbook', text: 'Who are you?' })
    expect(page.conversation.at(-1)).toMatchObject({ asks: true })
    expectSameCard(page, entries)
  })

  test('says when an entry is missing', () => {
    const fold = new RunFold(blankRun('r_1', 'x', []))
    expect(fold.apply({ seq: 2, type: 'step.opened', at: sendTime(1), by: 'ann', data: {} })).toBe(false)
    expect(fold.page.seq).toBe(0)
  })
})
