import { LockstepError } from '../shared/lockstep-error.ts'
import { Playbook } from '../playbook/playbook.ts'
import type { AgentOptions } from './agent-options.ts'
import { checkHooks } from './check-hooks.ts'
import { checkPrices } from './price-table.ts'
import { describeKind, refuseStrangers } from './refuse-strangers.ts'

const known: Readonly<Record<keyof AgentOptions, true>> = {
  model: true,
  tools: true,
  playbook: true,
  hooks: true,
  systemPrompt: true,
  onApproval: true,
  maxIterations: true,
  maxTokens: true,
  budget: true,
  prices: true,
  offer: true,
  blockViolations: true,
  recordViolations: true,
  maxRetries: true,
  maxIdleTurns: true,
  maxResultBytes: true,
  journal: true,
  policy: true,
  secrets: true,
  mode: true,
  tenant: true,
  principal: true,
}

/** Throws `usage` for an option that would do nothing, or a limit that would limit nothing (G12). */
export function checkOptions(options: AgentOptions): void {
  refuseStrangers('An agent', options, Object.keys(known))
  const { model } = options as { readonly model: unknown }
  if (typeof model !== 'string' && (typeof model !== 'object' || model === null)) {
    throw new LockstepError(
      'unknown_model',
      `An agent needs a model, not ${model === undefined ? 'nothing' : typeof model}.`,
      {
        hint: "Pass a model of the AI SDK, or its name: 'openai:…', 'anthropic:…', 'scripted:FILE', 'me'.",
      },
    )
  }
  const { maxIterations, maxTokens, maxRetries, maxIdleTurns, maxResultBytes, budget = {} } = options
  atLeast(1, { maxIterations, maxTokens, maxIdleTurns, maxResultBytes })
  atLeast(0, { maxRetries })
  const { tokens, dollars, ...others } = budget as Readonly<Record<string, number | undefined>>
  const other = Object.keys(others)[0]
  if (other !== undefined) throw new LockstepError('usage', `A budget is in tokens or dollars, not ${other}.`)
  atLeast(1, { 'budget.tokens': tokens })
  if (dollars !== undefined && !(Number.isFinite(dollars) && dollars > 0))
    throw new LockstepError('usage', `budget.dollars must be a number above 0, not ${dollars}.`)
  if (options.onApproval !== undefined && typeof options.onApproval !== 'function')
    throw new LockstepError('usage', 'onApproval must be a function that answers yes or no.')
  if (options.secrets !== undefined && typeof options.secrets !== 'function')
    throw new LockstepError('usage', 'secrets must be a function that finds a secret by its name.')
  if (options.mode !== undefined && options.mode !== 'execute' && options.mode !== 'dry-run')
    throw new LockstepError('usage', `mode must be 'execute' or 'dry-run', not '${String(options.mode)}'.`)
  checkParts(options)
  checkHooks(options.hooks)
  checkPrices(options.prices)
  if (options.offer !== undefined && options.offer !== 'legal' && options.offer !== 'all')
    throw new LockstepError('usage', `offer must be 'legal' or 'all', not '${String(options.offer)}'.`)
}

/** What callers without types get wrong: each would else fail later, somewhere else, or do nothing. */
function checkParts(options: Readonly<Partial<Record<keyof AgentOptions, unknown>>>): void {
  const { playbook, tools, journal } = options
  if (playbook !== undefined) checkPlaybook(playbook)
  if (
    tools !== undefined &&
    (typeof tools === 'string' || typeof Object(tools)[Symbol.iterator] !== 'function')
  )
    throw new LockstepError('usage', `tools must be a list of tools, not ${describeKind(tools)}.`)
  const { append, read } = Object(journal ?? {}) as { readonly append?: unknown; readonly read?: unknown }
  if (journal !== undefined && (typeof append !== 'function' || typeof read !== 'function'))
    throw new LockstepError('usage', `journal must be a journal, not ${describeKind(journal)}.`)
  for (const name of ['systemPrompt', 'tenant', 'principal'] as const) ofType('string', name, options[name])
  for (const name of ['blockViolations', 'recordViolations'] as const) ofType('boolean', name, options[name])
}

function ofType(type: 'string' | 'boolean', name: string, value: unknown): void {
  if (value === undefined || typeof value === type) return
  const wanted = type === 'string' ? 'a text' : 'true or false'
  throw new LockstepError('usage', `${name} must be ${wanted}, not ${describeKind(value)}.`)
}

/** Throws `usage` for what is no playbook, such as the name of its file. */
export function checkPlaybook(playbook: unknown): void {
  if (playbook instanceof Playbook) return
  throw new LockstepError('usage', `playbook must be a Playbook, not ${describeKind(playbook)}.`, {
    hint:
      typeof playbook === 'string'
        ? 'Load it first: loadPlaybook(file).'
        : 'Make one with definePlaybook or loadPlaybook.',
  })
}

function atLeast(least: number, values: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || (Number.isInteger(value) && value >= least)) continue
    throw new LockstepError('usage', `${name} must be a whole number of at least ${least}, not ${value}.`)
  }
}
