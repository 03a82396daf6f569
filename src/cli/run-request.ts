import { LockstepError } from '../shared/lockstep-error.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { ParameterFlags } from './parameter-flags.ts'
import type { Flags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

/** What `lockstep run` was asked to do, whatever kind of file it is. */
export interface RunRequest {
  readonly file: string
  /** The playbook, where it had to be read to know what may be asked for. */
  readonly playbook: Playbook | null
  readonly verbose: boolean
  /** The `NAME=VALUE` texts, as they were given. */
  readonly inputs: readonly string[]
  /** Null where none was named: then it depends on the playbook. */
  readonly model: string | null
  readonly mode: RunMode
  readonly prompt: string | null
  readonly config: string | undefined
  /** The files of policies that were named. */
  readonly policies: readonly string[]
  /** Why the glass is broken; null where nobody does. */
  readonly breakGlass: string | null
  readonly record: string | null
  readonly json: boolean
  /** The arguments as they were typed, from which the next command is made. */
  readonly args: readonly string[]
  readonly terminal: Terminal
}

/** Whether calls are made, or only shown. */
export type RunMode = 'dry-run' | 'execute'

/** Reads what was asked for. Throws `usage`. */
export function readRequest(
  { names, flags, lists }: Flags,
  args: readonly string[],
  terminal: Terminal,
  playbook: Playbook | null = null,
  parameters: ParameterFlags['own'] = new Map(),
): RunRequest {
  const [file, ...more] = names
  if (file === undefined || more.length > 0) {
    throw new LockstepError('usage', 'run takes one playbook', {
      hint: file === undefined ? 'lockstep run FILE' : `it was given ${names.join(' and ')}`,
    })
  }
  return {
    file,
    playbook,
    verbose: flags.has('verbose') || flags.has('v'),
    inputs: [...(lists.get('input') ?? []), ...parameterTexts(parameters, flags)],
    model: flags.get('model') ?? (playbook?.program == null ? null : programModel()),
    mode: readMode(flags.get('mode')),
    prompt: flags.get('prompt') ?? null,
    config: flags.get('config'),
    policies: lists.get('policy') ?? [],
    breakGlass: flags.get('break-glass') ?? null,
    record: flags.get('record') ?? null,
    json: flags.has('json'),
    args,
    terminal,
  }
}

/** `shadow` has a name, and is not built. */
function readMode(mode: string | undefined): RunMode {
  if (mode === 'shadow') {
    throw new LockstepError('not_available', 'The mode shadow is not available yet.', {
      hint: 'dry-run shows every call and makes none',
    })
  }
  return mode === 'execute' ? 'execute' : 'dry-run'
}

/** The parameters of the playbook that begins a program, given as flags of their own. */
function parameterTexts(parameters: ParameterFlags['own'], flags: Flags['flags']): string[] {
  return [...parameters].flatMap(([name, flag]) => {
    const value = flags.get(flag)
    return value === undefined ? [] : [`${name}=${value}`]
  })
}

/** A program may need no model at all, so away from a terminal it runs until it does. */
function programModel(): string {
  return process.stdin.isTTY && process.stdout.isTTY ? 'me' : 'none'
}

/** The model where none is named: the person at the terminal. Throws `usage` where there is no terminal. */
export function defaultModel(command: string): string {
  if (process.stdin.isTTY && process.stdout.isTTY) return 'me'
  throw new LockstepError('usage', `${command} needs --model, because this is no terminal`, {
    hint: 'pass openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me to answer on standard input',
  })
}
