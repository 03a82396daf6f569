import { parsePlaybook } from '../../src/playbook/parse-playbook.ts'
import type { Playbook } from '../../src/playbook/playbook.ts'
import { tool, type Tool, type ToolDefinition } from '../../src/tool/tool.ts'

/** A runbook; throws what is wrong with it. */
export function runbook(text: string): Playbook {
  const { playbook, diagnostics } = parsePlaybook(text, { format: 'yaml' })
  if (playbook === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return playbook
}

/** Tools that remember what was asked of them. */
export function workshop() {
  const effects: string[] = []
  const keys: string[] = []
  const make = (name: string, more: Partial<ToolDefinition> = {}): Tool =>
    tool({
      name,
      description: name,
      risk: 'write',
      execute: (args, { idempotencyKey }) => {
        effects.push(`${name} ${JSON.stringify(args)}`)
        keys.push(idempotencyKey)
        return { done: name }
      },
      ...more,
    })
  return { effects, keys, make }
}

/** Somebody who may approve. */
export const ann = { person: 'ann', identity: 'local', roles: ['OnCall'], reason: null } as const

/** Lets a little time pass. */
export function tick(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 10))
}

/** Waits until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await tick()
}
