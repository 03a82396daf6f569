import { writeFileSync } from 'node:fs'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { firstPlaybook } from './first-playbook.ts'
import { firstRunbook } from './first-runbook.ts'
import { readFlags } from './read-flags.ts'

const help = `Usage: lockstep init [FILE] [--runbook]

Writes a first playbook with comments to start from; FILE is playbook.yaml unless given. An existing file is never
overwritten.

Options:
  --runbook   a runbook instead, whose steps are calls that need no model; runbook.yaml unless FILE is given

Exit codes: 0 written, 1 the file exists or cannot be written, 2 wrong usage.

Examples:
  lockstep init playbooks/refund.yaml
  lockstep init --runbook
`

/** `lockstep init`: writes a first playbook. */
export const initCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { runbook: 'switch' })
    const isRunbook = flags.has('runbook')
    const [file = isRunbook ? 'runbook.yaml' : 'playbook.yaml', ...more] = names
    if (more.length > 0) throw new LockstepError('usage', 'init takes one file')
    if (!/\.ya?ml$/i.test(file))
      throw new LockstepError('usage', `init writes YAML, and ${file} does not end in .yaml or .yml`)
    try {
      writeFileSync(file, isRunbook ? firstRunbook : firstPlaybook, { flag: 'wx' })
    } catch (error) {
      throw explain(error, file)
    }
    terminal.out(`Wrote ${file}. Next:\n  edit it, then run: npx lockstep check ${file}\n`)
    return exitCode.done
  },
}

function explain(error: unknown, file: string): LockstepError {
  switch ((error as { code?: string }).code) {
    case 'EEXIST':
      return new LockstepError('invalid_input', `${file} exists`, {
        hint: 'it was left as it is; name another file',
        cause: error,
      })
    case 'ENOENT':
      return new LockstepError('invalid_input', `there is no directory for ${file}`, {
        hint: 'create it first',
        cause: error,
      })
    default:
      return new LockstepError('invalid_input', `${file} cannot be written: ${(error as Error).message}`, {
        cause: error,
      })
  }
}
