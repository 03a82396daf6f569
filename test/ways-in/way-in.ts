import type { CallToolResult } from '@modelcontextprotocol/server'
import { generateText, type ToolSet } from 'ai'
import { z } from 'zod'
import { Agent } from '../../src/agent/agent.ts'
import { guard } from '../../src/agent/guard.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { GatewayRun, type GatewayRunSetup } from '../../src/mcp/gateway-run.ts'
import { GatewayTools } from '../../src/mcp/gateway-tools.ts'
import { loadPolicy } from '../../src/source/load-policy.ts'
import type { PolicySetup } from '../../src/tool/policy-guard.ts'
import type { Playbook } from '../../src/playbook/playbook.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { RunRecord } from '../../src/tool/run-record.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { tool } from '../../src/tool/tool.ts'

/** What an agent does in one turn: call tools (`name`, or `name!` for one that fails), or give its final answer (`.`). */
export type Turn = readonly string[]

/** What came of it: the tools that really ran, and whether the run counts as succeeded. */
export interface Came {
  readonly ran: readonly string[]
  readonly succeeded: boolean
  /** Everything that the agent, or the host for it, was told on the way. */
  readonly told?: string
}

/** How a playbook is tried. */
export interface Trial {
  readonly playbook: Playbook
  readonly turns: readonly Turn[]
  readonly observe?: boolean
  /** Nothing can be written down. */
  readonly mute?: boolean
  /** The text of a policy that it is done under, by somebody with the role `agent`. */
  readonly policy?: string
  /** Whatever waits is approved by a lead, tried twice. */
  readonly approve?: boolean
}

/** A way in which an agent reaches tools through Lockstep. */
export interface WayIn {
  readonly name: string
  attempt(trial: Trial): Promise<Came>
}

const bare = (call: string) => call.replace('!', '')
const names = ({ playbook, turns }: Trial) =>
  [...new Set([...playbook.steps.flatMap((step) => step.expectedTools), ...turns.flat().map(bare)])].filter(
    (name) => !['*', '.', 'complete_step', 'not_there'].includes(name),
  )

/** Work that leaves a trace, and fails the first time it is told to. */
function work(trial: Trial, ran: string[]) {
  const failing = trial.turns
    .flat()
    .filter((call) => call.endsWith('!'))
    .map(bare)
  return (name: string) => {
    const at = failing.indexOf(name)
    if (at !== -1) {
      failing.splice(at, 1)
      throw new ToolFailure('no')
    }
    ran.push(name)
    return 'done'
  }
}

function toolsOf(trial: Trial, ran: string[]) {
  const run = work(trial, ran)
  return names(trial).map((name) => tool({ name, description: name, execute: () => run(name) }))
}

function policyOf({ policy }: Trial): { policy?: PolicySetup } {
  if (policy === undefined) return {}
  const principal = { id: 'ada', kind: 'local', roles: ['agent'] } as const
  return { policy: { policies: [loadPolicy(policy)], principal } }
}

const lead = { person: 'bob', identity: 'local', roles: ['lead'], answer: 'approve', reason: null } as const

/** A journal that takes nothing. */
function muteJournal(): Journal {
  const journal = new MemoryJournal()
  journal.append = () => Promise.reject(new Error('the disk is full'))
  return journal
}

const enforcer: WayIn = {
  name: '`PlaybookEnforcer`',
  async attempt(trial) {
    const ran: string[] = []
    let told = ''
    const held = PlaybookEnforcer.fromPlaybook(trial.playbook, {
      tools: toolsOf(trial, ran),
      blockViolations: trial.observe !== true,
      ...policyOf(trial),
      ...(trial.mute === true ? { onEvents: () => Promise.reject(new Error('the disk is full')) } : {}),
    })
    try {
      for (const turn of trial.turns) {
        if (turn[0] === '.') held.finish('done')
        else if (turn[0] === 'complete_step') held.declareCurrentStep('done')
        else {
          const outcomes = await held.callAll(turn.map((call) => ({ tool: bare(call), arguments: {} })))
          told += JSON.stringify(outcomes)
          for (const { tool: name, status, enforcement } of trial.approve === true ? outcomes : []) {
            if (status !== 'held') continue
            const callId = enforcement!.callId!
            held.gate.vote(callId, lead)
            for (const _ of ['once', 'again']) await held.call(name, {}, undefined, { callId })
          }
        }
      }
    } catch {
      // What cannot be written down is thrown; what matters here is what ran.
    }
    return { ran, succeeded: held.status === 'succeeded', told }
  },
}

/** The model, and what it was told so far. */
function listening(turns: readonly ScriptedTurn[]) {
  const model = scriptedModel({ turns })
  const heard = { model, told: '' }
  const answer = model.doGenerate.bind(model)
  model.doGenerate = async (options) => {
    heard.told += JSON.stringify(options.prompt)
    return await answer(options)
  }
  return heard
}

function script({ turns }: Trial): ScriptedTurn[] {
  return turns.map((turn) =>
    turn[0] === '.' ? { text: 'Done.' } : { calls: turn.map((call) => ({ tool: bare(call) })) },
  )
}

const agent: WayIn = {
  name: '`Agent`',
  async attempt(trial) {
    const ran: string[] = []
    const journal = trial.mute === true ? muteJournal() : new MemoryJournal()
    const tools = toolsOf(trial, ran)
    const heard = listening(script(trial))
    const agentAfter = (answered: number) =>
      new Agent({
        model: answered === 0 ? heard.model : scriptedModel({ turns: script(trial).slice(answered) }),
        tools,
        playbook: trial.playbook,
        blockViolations: trial.observe !== true,
        journal,
        ...policyOf(trial),
      })
    const begun = await agentAfter(0)
      .run('Go.', { run: 'r' })
      .catch(() => null)
    if (begun === null || trial.approve !== true) {
      return { ran, succeeded: begun?.status === 'succeeded', told: heard.told }
    }
    const [, callId] = /\((.*)\) waits for approval/.exec(begun.reason ?? '')!
    await agentAfter(0).vote('r', callId!, lead)
    const after = begun.metrics.iterations
    const [result] = [await agentAfter(after).resume('r'), await agentAfter(after).resume('r')]
    return { ran, succeeded: result.status === 'succeeded' }
  },
}

const guarded: WayIn = {
  name: '`guard` (AI SDK)',
  async attempt(trial) {
    const ran: string[] = []
    const run = work(trial, ran)
    const tools: ToolSet = Object.fromEntries(
      names(trial).map((name) => [
        name,
        { description: name, inputSchema: z.object({}), execute: () => run(name) },
      ]),
    )
    const held = guard(trial.playbook, tools, {
      mode: trial.observe === true ? 'observe' : 'enforce',
      offer: 'all',
    })
    const heard = listening(script(trial))
    const { model } = heard
    const stopWhen = [
      ...held.stopWhen,
      ({ steps }: { steps: readonly unknown[] }) => steps.length >= trial.turns.length,
    ]
    const result = await generateText({ model, prompt: 'Go.', ...held, stopWhen }).catch(() => null)
    return { ran, succeeded: result !== null && held.finish(result.text).accepted, told: heard.told }
  },
}

/** What people say to calls behind a gateway is found when the call is sent again. */
function gatewayPolicy(trial: Trial): Pick<GatewayRunSetup, 'policy'> {
  const { policy } = policyOf(trial)
  if (policy === undefined) return {}
  const votes = trial.approve === true ? [{ vote: lead, taken: () => undefined }] : []
  const approvals = {
    setupFor: () => policy,
    votesOn: () => votes,
    wordsFor: () => ({ id: 'a', takes: [], command: '' }),
  }
  return { policy: { approvals, principal: policy.principal.id } }
}

const mcp: WayIn = {
  name: '`lockstep mcp`',
  async attempt(trial) {
    const ran: string[] = []
    const upstream = {
      tools: toolsOf(trial, ran).map((each) => ({ ...each, name: `desk/${each.name}` })),
      definition: () => null,
      takeAnswer: () => null,
    }
    const run = new GatewayRun({
      tools: new GatewayTools(trial.playbook, upstream, null, trial.observe === true),
      record: new RunRecord('r', trial.mute === true ? muteJournal() : null, { tenant: 't', principal: 'p' }),
      options: { run: 'r', blockViolations: trial.observe !== true },
      events: null,
      ...gatewayPolicy(trial),
    })
    const { signal } = new AbortController()
    let told = ''
    for (const call of trial.turns.flat()) {
      const name = call === '.' ? 'finish' : bare(call)
      const { structuredContent } = (await run.call(name, {}, signal)) as CallToolResult
      told += JSON.stringify(structuredContent ?? null)
      if (trial.approve !== true || (structuredContent as { code?: string })?.code !== 'pending') continue
      for (const _ of ['once', 'again']) await run.call(name, {}, signal)
    }
    return { ran, succeeded: run.enforcer.status === 'succeeded', told }
  },
}

/** Every way in, in the order in which they are shown. */
export const waysIn: readonly WayIn[] = [enforcer, agent, guarded, mcp]
