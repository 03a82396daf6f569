import type { Playbook } from '../playbook/playbook.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { isMarkdown } from '../source/load-program.ts'
import { openPlaybook } from './open-playbook.ts'
import { type ParameterFlags, parameterFlags } from './parameter-flags.ts'
import { type FlagRules, readFlags } from './read-flags.ts'
import { type RunRequest, readRequest } from './run-request.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep run FILE [OPTIONS]

Lets an agent work through a playbook, with the tools of lockstep.config.yaml. A runbook, whose steps are calls, needs no model. A Markdown playbook (.md, .pb) talks with you;
its parameters are flags too, as in --order-id ORD-42, and lockstep run FILE.md --help lists them; one that is spelled like an
option is given with --input. Without --mode execute nothing is
changed: every call is judged and shown with its final arguments, and counts as made so that the run can go on.

Options:
  --input NAME=VALUE   an input of the playbook, read as its type; may stand often
  --model MODEL        openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me: you are the model
                       (the default on a terminal)
  --mode dry-run       show the calls and make none (the default)
  --mode execute       make them
  --prompt TEXT        the task; otherwise the playbook itself
  --config FILE        the configuration, instead of the nearest lockstep.config.yaml
  --policy FILE        a policy that the run stands under, besides those of the configuration; may stand often
  --break-glass REASON pass what a policy lets somebody with your role pass in an emergency; the record says so, and why
  --record FILE        write what the model said as a script that --model scripted:FILE replays
  -v, --verbose        tell every bullet of a Markdown playbook as it begins
  --json               every event as a line of JSON, and the result as the last

A run that is interrupted (Ctrl-C), or waits for a person, is taken up again with lockstep resume. One that waits for approval says
who may give it, and how.

Exit codes: 0 succeeded, 1 failed or incomplete, 2 wrong usage, 3 needs input, 4 waits for approval.

Examples:
  lockstep run refund.yaml --input order_id=ORD-42 --model me
  lockstep run refund.yaml --input order_id=ORD-42 --model anthropic:claude-sonnet-4-5 --mode execute
`

const rules = {
  input: { value: 'NAME=VALUE', often: true },
  model: { value: 'openai:…, anthropic:…, openai-compatible:…, scripted:FILE or me' },
  mode: { values: ['dry-run', 'execute'], later: ['shadow'] },
  prompt: { value: 'TEXT' },
  config: { value: 'FILE' },
  policy: { value: 'FILE', often: true },
  'break-glass': { value: 'REASON' },
  record: { value: 'FILE' },
  json: 'switch',
  verbose: 'switch',
  v: 'switch',
} as const

/** The Markdown playbook among the arguments, if there is one: its parameters are flags too. */
async function openProgram(
  args: readonly string[],
  terminal: Terminal,
): Promise<Playbook | null | undefined> {
  const file = args.find((arg, index) => isMarkdown(arg) && !takesValue(args[index - 1]))
  if (file === undefined) return undefined
  const config = args.find((_, index) => args[index - 1] === '--config')
  return await openPlaybook(file, config, terminal)
}

function takesValue(arg: string | undefined): boolean {
  const rule = arg?.startsWith('--') === true ? (rules as FlagRules)[arg.slice(2)] : undefined
  return rule !== undefined && rule !== 'switch'
}

function rulesFor(playbook: Playbook | undefined, { own }: ParameterFlags): FlagRules {
  const inputs = playbook?.inputs ?? {}
  const parameters = [...own].map(([name, flag]) => [flag, { value: inputs[name]!.type.toUpperCase() }])
  return { ...Object.fromEntries(parameters), ...rules }
}

/** Whoever used an option that is spelled like a parameter may have meant the parameter. */
function withParameterHint(error: unknown, args: readonly string[], { taken }: ParameterFlags): unknown {
  if (!LockstepError.isInstance(error) || error.code !== 'usage') return error
  const [meant] = [...taken].filter(([, flag]) => args.some((arg) => arg.split('=')[0] === `--${flag}`))
  if (meant === undefined) return error
  const [name, flag] = meant
  return new LockstepError('usage', error.message, {
    hint: `the parameter $${name} is given with --input ${name}=VALUE, because --${flag} means something else`,
    cause: error,
  })
}

/** `lockstep run`: an agent works through a playbook. */
export const runCommand: Command = {
  help,
  async run(args, terminal) {
    const program = await openProgram(args, terminal)
    if (program === null) return exitCode.failed
    const parameters = parameterFlags(program ?? null, rules)
    let request: RunRequest
    try {
      const flags = readFlags(args, rulesFor(program, parameters))
      request = readRequest(flags, args, terminal, program ?? null, parameters.own)
    } catch (error) {
      throw withParameterHint(error, args, parameters)
    }
    const { runPlaybook } = await import('./run-playbook.ts')
    return await runPlaybook(request)
  },
  async helpFor(args, terminal) {
    const program = await openProgram(args, terminal)
    if (program == null) return help
    const flags = parameterFlags(program, rules)
    const lines = Object.entries(program.inputs).map(([name, input]) => {
      const fallback = input.default === undefined ? 'required' : `default ${JSON.stringify(input.default)}`
      const [flag, type] = [flags.own.get(name), input.type.toUpperCase()]
      if (flag !== undefined) return `  --${flag} ${type}   ${fallback}`
      return `  --input ${name}=${type}   ${fallback}; --${flags.taken.get(name)} means something else`
    })
    const own = lines.length === 0 ? 'It takes no parameters.' : `Parameters:\n${lines.join('\n')}`
    return `${program.name}\n\n${own}\n\n${help}`
  },
}
