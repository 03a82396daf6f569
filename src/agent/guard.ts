import type { PrepareStepFunction, StopCondition, ToolExecutionOptions, ToolSet } from 'ai'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { EnforcementViolation } from '../tool/enforcement-result.ts'
import type { FinishResult } from '../tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import type { CallOutcome } from '../tool/run-call.ts'
import type { Risk } from '../tool/tool.ts'
import { z } from 'zod'
import { brief, outline } from '../tool/briefing.ts'
import {
  controlArgument,
  controlMove,
  controlText,
  controlToolNames,
  controlTools,
  moveStep,
} from '../tool/control-tool.ts'
import { describeOutcome } from '../tool/describe-outcome.ts'
import { checkPlaybook } from './check-options.ts'
import { legalTools } from './offered-tools.ts'
import { describeKind, refuseStrangers } from './refuse-strangers.ts'

/** How tools are guarded. */
export interface GuardOptions {
  /** `observe` lets every call through and says what it would have denied (G13). Default `enforce`. */
  readonly mode?: 'enforce' | 'observe'
  readonly inputs?: Readonly<Record<string, unknown>>
  /** What each tool can do at worst; undeclared counts as irreversible. */
  readonly risks?: Readonly<Record<string, Risk>>
  /**
   * Which tools the model is told of: those that are legal now, or all of them always. Told of the legal ones only, the AI SDK
   * itself refuses any other, unrecorded; told of all, the gate refuses, with its reasons. Default `legal`.
   */
  readonly offer?: 'legal' | 'all'
  readonly clock?: () => number
}

/** What the AI SDK's own loop is given, by spreading it into `generateText` or `streamText`; and, beside that, the run. */
export interface Guard {
  readonly tools: ToolSet
  readonly prepareStep: PrepareStepFunction<ToolSet>
  readonly stopWhen: StopCondition<ToolSet>[]
  readonly toolCallConcurrency: 1
  /** The run behind the guard; a guard is one run. Not spread. */
  readonly enforcer: PlaybookEnforcer
  readonly violations: readonly EnforcementViolation[]
  /** Hands the final answer in (G9). Not spread. */
  readonly finish: (message: string) => FinishResult
  /** What was denied, or would have been, in a few lines. Not spread. */
  readonly summary: () => string
}

/**
 * Holds the AI SDK's own loop to a playbook: `generateText({ model, prompt, ...guard(playbook, tools) })`. Its tools pass
 * the gate, only legal ones are offered, and while required steps are open the model has to call one. Throws `invalid_tool` for
 * a tool that would run elsewhere: at the provider, or in a client.
 */
export function guard(playbook: Playbook, tools: ToolSet, options: GuardOptions = {}): Guard {
  checkGuard(playbook, tools, options)
  const observing = options.mode === 'observe'
  const enforcer = PlaybookEnforcer.fromPlaybook(playbook, {
    blockViolations: !observing,
    ...(options.inputs === undefined ? {} : { inputs: options.inputs }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  const { gate } = enforcer
  const names = Object.keys(tools)
  checkTools(playbook, tools)
  let calls = 0
  let stopped: string | null = null

  const judged = async (
    name: string,
    args: unknown,
    run: ToolExecutionOptions<never>,
  ): Promise<CallOutcome> => {
    const risk = options.risks?.[name] ?? 'irreversible'
    if (stopped !== null && risk !== 'read') {
      return { tool: name, enforcement: null, status: 'not_executed', error: `not executed: ${stopped}` }
    }
    calls++
    const execute = tools[name]!.execute as (input: unknown, options: unknown) => unknown
    return await enforcer.call(name, args, async (input) => await lastOf(execute(input, run)), {
      risk,
      ...(run.abortSignal === undefined ? {} : { signal: run.abortSignal }),
    })
  }
  const wrapped = names.map((name) => [
    name,
    {
      ...tools[name],
      execute: async (args: unknown, run: ToolExecutionOptions<never>) => {
        const outcome = await judged(name, args, run)
        if (outcome.status === 'succeeded') return outcome.result
        stopped ??= `'${name}' before it was not done (${outcome.status})`
        const shown = describeOutcome(gate.state, outcome, Number.POSITIVE_INFINITY)
        throw new Error(typeof shown.value === 'string' ? shown.value : JSON.stringify(shown.value))
      },
    },
  ])
  const control = controlTools(null, true).map(({ name, description }) => [
    name,
    {
      description,
      inputSchema: z.object({ [controlArgument(controlMove(name)!)]: z.string().optional() }),
      execute: (args: unknown) => {
        const move = controlMove(name)!
        const refused = moveStep(gate, move, controlText(move, args))
        if (refused !== null) throw new Error(refused)
        return { done: true }
      },
    },
  ])

  const spread = {
    tools: Object.fromEntries([...wrapped, ...(playbook.steps.length === 0 ? [] : control)]) as ToolSet,
    toolCallConcurrency: 1 as const,
    stopWhen: [() => enforcer.status !== null || (!observing && isStuck(enforcer))],
    prepareStep: (({ initialInstructions }) => {
      stopped = null
      const open = enforcer.beginIteration()
      const base = typeof initialInstructions === 'string' ? [initialInstructions] : []
      const instructions = [...base, outline(gate.state), brief(gate.state)]
        .filter((text) => text !== '')
        .join('\n\n')
      if (observing) return { instructions }
      const active = open ? legalTools(gate.state, names) : []
      return {
        instructions,
        ...(options.offer === 'all' ? {} : { activeTools: active }),
        // A text alone would end the loop, so it is not an option while work is left.
        toolChoice: gate.wouldFinish() || active.length === 0 ? 'auto' : 'required',
      }
    }) satisfies PrepareStepFunction<ToolSet>,
  }
  // Beside, not in: what is spread into generateText is only what it knows.
  const beside = {
    enforcer: { value: enforcer },
    violations: { get: () => enforcer.violations },
    finish: { value: (message: string) => enforcer.finish(message) },
    summary: { value: () => summarise(enforcer, calls) },
  }
  return Object.defineProperties(spread, beside) as never as Guard
}

const known: Readonly<Record<keyof GuardOptions, true>> = {
  mode: true,
  inputs: true,
  risks: true,
  offer: true,
  clock: true,
}

/** An option that is misspelt would enforce where somebody wanted to observe, or the other way round. */
function checkGuard(playbook: unknown, tools: unknown, options: GuardOptions): void {
  checkPlaybook(playbook)
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools))
    throw new LockstepError('usage', `guard takes tools by name, not ${describeKind(tools)}.`)
  refuseStrangers('guard', options, Object.keys(known))
  oneOf('mode', options.mode, ['enforce', 'observe'])
  oneOf('offer', options.offer, ['legal', 'all'])
  for (const [name, risk] of Object.entries(options.risks ?? {})) {
    oneOf(`The risk of '${name}'`, risk, ['read', 'write', 'irreversible'])
  }
}

function oneOf(what: string, given: unknown, values: readonly string[]): void {
  if (given === undefined || values.includes(given as string)) return
  const nearest = nearestName(String(given), values)
  throw new LockstepError(
    'usage',
    `${what} must be one of ${values.join(', ')}, not ${describeKind(given)}.`,
    {
      hint: nearest === null ? null : `Did you mean '${nearest}'?`,
    },
  )
}

function isStuck(enforcer: PlaybookEnforcer): boolean {
  return enforcer.gate.state.failedRequired > 0 || enforcer.gate.state.paused > 0
}

function checkTools(playbook: Playbook, tools: ToolSet): void {
  const call = playbook.steps.find((step) => step.tool !== null)
  if (call !== undefined) {
    throw new LockstepError(
      'usage',
      `Step '${call.id}' is a call, and guard makes none: it judges those of a model.`,
      {
        hint: 'Run the playbook with an Agent or with `lockstep run`, or name the tool in `expected_tools` instead.',
      },
    )
  }
  for (const [name, tool] of Object.entries(tools)) {
    if (controlToolNames.includes(name)) {
      throw new LockstepError(
        'invalid_tool',
        `A tool cannot be called '${name}': the procedure's own tools are.`,
      )
    }
    if (typeof tool.execute === 'function' && (tool as { type?: string }).type !== 'provider') continue
    throw new LockstepError(
      'invalid_tool',
      `The tool '${name}' would not run here, so it cannot be guarded.`,
      {
        hint: 'Tools that a provider executes, or that a client answers, never pass the gate. Leave it out, or give it an execute of its own.',
      },
    )
  }
  const named = playbook.steps.flatMap((step) => step.expectedTools.filter((tool) => tool !== '*'))
  const missing = [...new Set(named)].filter((name) => !Object.hasOwn(tools, name))
  if (missing.length === 0) return
  const meant = missing
    .map((name) => [name, nearestName(name, Object.keys(tools))] as const)
    .find(([, nearest]) => nearest !== null)
  throw new LockstepError(
    'unknown_tool',
    `The playbook '${playbook.id}' needs tools that are not there: ${missing.join(', ')}.`,
    { hint: meant === undefined ? null : `Did you mean '${meant[1]}' instead of '${meant[0]}'?` },
  )
}

function summarise(enforcer: PlaybookEnforcer, calls: number): string {
  const { violations } = enforcer
  const verb = enforcer.blockViolations ? 'denied' : 'would have denied'
  const lines = violations.map(({ violationType, message }) => `  ${violationType}: ${message}`)
  return [`${verb} ${violations.length} of ${calls} calls`, ...lines].join('\n')
}

/** A tool of the AI SDK may yield preliminary results; the last one counts. */
async function lastOf(value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return await value
  let last: unknown
  for await (const each of value as AsyncIterable<unknown>) last = each
  return last
}
