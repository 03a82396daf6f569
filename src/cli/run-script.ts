import { closeSync, openSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { stringify } from 'yaml'
import { type AgentEvent, scriptTurn } from '../app.ts'
import { isJsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

type Answer = Extract<AgentEvent, { type: 'model.answered' }>

/** Collects what a model says in a run, as the turns of a script that says the same. */
export class RunScript {
  readonly turns: object[] = []
  #asked: Extract<AgentEvent, { type: 'question.asked' }> | null = null

  /** Takes note of an event; most mean nothing. */
  note(event: AgentEvent): void {
    if (event.type === 'model.answered') this.turns.push(turnOf(event))
    if (event.type === 'question.asked') this.#asked = event
    if (event.type !== 'question.answered' || this.#asked === null) return
    this.turns.push(scriptTurn(this.#asked.questions, event.answers, event.usage ?? undefined))
  }
}

/** The turn of a script that says what a model said in a turn of an agent. */
function turnOf({ text, calls, promptTokens, completionTokens }: Answer): object {
  return {
    ...(text === '' ? {} : { text }),
    ...(calls.length === 0 ? {} : { calls: calls.map(writeCall) }),
    ...(promptTokens + completionTokens === 0
      ? {}
      : { usage: { prompt: promptTokens, completion: completionTokens } }),
  }
}

/** Writes turns as a script, those of agents and those that answer questions, in the order in which they came: `--model scripted:FILE` replays them. Throws `invalid_input` if it cannot. */
export function writeTurns(path: string, turns: readonly object[], about: string): void {
  try {
    writeFileSync(path, `# ${about}\n${stringify({ turns })}`)
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

/** Makes sure, before anything happens, that a script can be written there. Throws `invalid_input`, also if it would replace one of the files that are in use. */
export function assertScriptPath(path: string, used: readonly (string | null)[]): void {
  if (used.some((file) => file !== null && isSameFile(file, path))) {
    throw new LockstepError('invalid_input', `--record ${path} would replace a file that this run reads.`, {
      hint: 'name another one',
    })
  }
  const before = statSync(path, { throwIfNoEntry: false })
  try {
    if (before !== undefined && !before.isFile()) throw new Error('it is no file')
    closeSync(openSync(path, 'a'))
    if (before === undefined) unlinkSync(path)
  } catch (cause) {
    throw unwritable(path, cause)
  }
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

function unwritable(path: string, cause: unknown): LockstepError {
  return new LockstepError('invalid_input', `${path} cannot be written: ${(cause as Error).message}.`, {
    cause,
    hint: 'name another file with --record',
  })
}

/** Arguments that were no object are kept as the text they came as. */
function writeCall({ tool, arguments: args }: Answer['calls'][number]) {
  if (isJsonObject(args)) return Object.keys(args).length === 0 ? { tool } : { tool, arguments: args }
  return { tool, raw: typeof args === 'string' ? args : JSON.stringify(args) }
}
