import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { SettingOrigin, SettingShown } from '../source/settings.ts'
import { settingRules } from '../source/settings-schema.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { openSettings, settingFlags, settingFlagsHelp } from './setting-flags.ts'

const variables = settingRules.map(
  ({ key, variable, inFile }) => `  ${variable.padEnd(34)}  ${inFile ? `server.${key}` : key}`,
)

const help = `Usage: lockstep config [OPTIONS] [--json]

Shows what is set for lockstep serve, and where each value comes from. Flags go before the environment, that before .env in the working directory, that
before the server part of lockstep.config.yaml, that before what is usual. Secrets are masked.

Options: those of lockstep serve, to see what they would change
${settingFlagsHelp}
  --json            one JSON document, for programs

Variables, and where the same stands in a configuration:
${variables.join('\n')}

Exit codes: 0 done, 1 a setting is wrong, 2 wrong usage.

Examples:
  lockstep config
  LOCKSTEP_PORT=9000 lockstep config --json
`

/** `lockstep config`: the settings that apply, with their origin and without secrets. */
export const configCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { ...settingFlags, json: 'switch' })
    if (names.length > 0)
      throw new LockstepError('usage', 'config takes no names: it shows everything that is set')
    const { shown, notes, config } = await openSettings(flags)
    if (flags.has('json')) {
      const told = { config: config?.file ?? null, settings: shown, notes }
      terminal.out(`${JSON.stringify(told, null, 2)}\n`)
      return exitCode.done
    }
    terminal.out(`Configuration: ${escapeControl(config?.file ?? 'none')}\n`)
    const width = Math.max(...shown.map(({ key }) => key.length))
    for (const each of shown) terminal.out(`${escapeControl(line(each, width))}\n`)
    for (const note of notes) terminal.err(`lockstep: ${escapeControl(note)}\n`)
    terminal.out('Next: npx lockstep doctor\n')
    return exitCode.done
  },
}

function line({ key, value, secret, origin }: SettingShown, width: number): string {
  const text =
    value === null
      ? secret
        ? 'not set'
        : '-'
      : Array.isArray(value)
        ? value.join(', ') || '-'
        : String(value)
  return `${key.padEnd(width)}  ${text.padEnd(28)}  ${describeOrigin(origin)}`
}

/** Where a value comes from, for people. */
export function describeOrigin(origin: SettingOrigin): string {
  switch (origin.from) {
    case 'flag':
      return `flag ${origin.name}`
    case 'environment':
      return `environment ${origin.name}`
    case '.env':
      return `${origin.file} ${origin.name}`
    case 'file':
      return `${origin.file} ${origin.name}`
    case 'default':
      return 'default'
  }
}
