import { writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import type { AgentEvent } from '../app.ts'
import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

type Answer = Extract<AgentEvent, { type: 'model.answered' }>

/** Writes what a model said as a script that says the same: `--model scripted:FILE` replays it. Throws `invalid_input` if it cannot. */
export function writeScript(path: string, answers: readonly Answer[], about: string): void {
  const turns = answers.map(({ text, calls, promptTokens, completionTokens }) => ({
    ...(text === '' ? {} : { text }),
    ...(calls.length === 0 ? {} : { calls: calls.map(writeCall) }),
    ...(promptTokens + completionTokens === 0
      ? {}
      : { usage: { prompt: promptTokens, completion: completionTokens } }),
  }))
  try {
    writeFileSync(path, `# ${about}\n${stringify({ turns })}`)
  } catch (cause) {
    throw new LockstepError('invalid_input', `${path} cannot be written: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/** Arguments that were no object are kept as the text they came as. */
function writeCall({ tool, arguments: args }: Answer['calls'][number]) {
  if (isJsonObject(args)) return Object.keys(args).length === 0 ? { tool } : { tool, arguments: args }
  return { tool, raw: typeof args === 'string' ? args : JSON.stringify(args) }
}
