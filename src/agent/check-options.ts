import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { AgentOptions } from './agent-options.ts'

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
  tenant: true,
  principal: true,
}

/** Throws `usage` for an option that would do nothing, or a limit that would limit nothing (G12). */
export function checkOptions(options: AgentOptions): void {
  const stranger = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (stranger !== undefined) {
    const nearest = nearestName(stranger, Object.keys(known))
    throw new LockstepError('usage', `An agent has no option '${stranger}'.`, {
      hint: nearest === null ? `It has ${Object.keys(known).join(', ')}.` : `Did you mean '${nearest}'?`,
    })
  }
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
  if (options.offer !== undefined && options.offer !== 'legal' && options.offer !== 'all')
    throw new LockstepError('usage', `offer must be 'legal' or 'all', not '${String(options.offer)}'.`)
}

function atLeast(least: number, values: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || (Number.isInteger(value) && value >= least)) continue
    throw new LockstepError('usage', `${name} must be a whole number of at least ${least}, not ${value}.`)
  }
}
