import { extname } from 'node:path'
import { playbookSuffixes } from '../source/read-source-file.ts'
import type { Command } from './command.ts'
import type { ExitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { type RunRequest, readRequest } from './run-request.ts'

const help = `Usage: lockstep run FILE [OPTIONS]

Lets an agent work through a playbook, with the tools of lockstep.config.yaml. Without --mode execute nothing is
changed: every call is judged and shown with its final arguments, and counts as made so that the run can go on.

Options:
  --input NAME=VALUE   an input of the playbook, read as its type; may stand often
  --model MODEL        openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me: you are the model
                       (the default on a terminal)
  --mode dry-run       show the calls and make none (the default)
  --mode execute       make them
  --prompt TEXT        the task; otherwise the playbook itself
  --config FILE        the configuration, instead of the nearest lockstep.config.yaml
  --record FILE        write what the model said as a script that --model scripted:FILE replays
  --json               every event as a line of JSON, and the result as the last

A run that is interrupted (Ctrl-C), or waits for a person, is taken up again with lockstep resume.

Exit codes: 0 succeeded, 1 failed or incomplete, 2 wrong usage, 3 needs input.

Examples:
  lockstep run refund.yaml --input order_id=ORD-42 --model me
  lockstep run refund.yaml --input order_id=ORD-42 --model anthropic:claude-sonnet-4-5 --mode execute
`

const rules = {
  input: { value: 'NAME=VALUE', often: true },
  model: { value: 'openai:…, anthropic:…, openai-compatible:…, scripted:FILE or me' },
  mode: { values: ['dry-run', 'execute'] },
  prompt: { value: 'TEXT' },
  config: { value: 'FILE' },
  record: { value: 'FILE' },
  json: 'switch',
} as const

/** A kind of file that can be run, by the end of its name. */
interface RunKind {
  readonly suffixes: readonly string[]
  load(): Promise<(request: RunRequest) => Promise<ExitCode>>
}

const typedPlaybook: RunKind = {
  suffixes: playbookSuffixes,
  load: async () => (await import('./run-playbook.ts')).runPlaybook,
}

const kinds: readonly RunKind[] = [typedPlaybook]

/** `lockstep run`: an agent works through a playbook. */
export const runCommand: Command = {
  help,
  async run(args, terminal) {
    const request = readRequest(readFlags(args, rules), args, terminal)
    const suffix = extname(request.file).toLowerCase()
    // Of any other file, the reader of playbooks says what is wrong with it.
    const runFile = await (kinds.find(({ suffixes }) => suffixes.includes(suffix)) ?? typedPlaybook).load()
    return await runFile(request)
  },
}
