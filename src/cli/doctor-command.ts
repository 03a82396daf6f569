import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadSettings } from '../source/load-settings.ts'
import type { Settings } from '../source/settings.ts'
import type { Command } from './command.ts'
import { examine, type Finding } from './examine.ts'
import { exitCode } from './exit-code.ts'
import { explainError } from './explain-error.ts'
import { type Flags, readFlags } from './read-flags.ts'
import { openSettings, settingFlags, settingFlagsHelp } from './setting-flags.ts'

const help = `Usage: lockstep doctor [OPTIONS] [--json]

Looks whether lockstep serve would work here: Node, settings, data folder, store, keys, clock, engine, port, model, checkout and console. What is not in order
is told with what to do about it. Nothing is changed, and no model is asked.

Options: those of lockstep serve
${settingFlagsHelp}
  --json            one JSON document, for programs

Exit codes: 0 in order, 1 something failed, 2 wrong usage.

Examples:
  lockstep doctor
  LLM_PROVIDER=openai lockstep doctor --json
`

const marks = { ok: 'ok    ', note: 'note  ', failed: 'FAILED' } as const

/** `lockstep doctor`: is everything there that the server needs, and if not, what to do. */
export const doctorCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { ...settingFlags, json: 'switch' })
    if (names.length > 0) throw new LockstepError('usage', 'doctor takes no names')
    const { settings, store, first } = await settle(flags)
    const findings = [...first, ...(await examine(settings, store, Date.now()))]
    const sound = findings.every(({ verdict }) => verdict !== 'failed')
    if (flags.has('json')) terminal.out(`${JSON.stringify({ ok: sound, findings }, null, 2)}\n`)
    else {
      for (const { what, verdict, says, remedy } of findings) {
        terminal.out(`${marks[verdict]}  ${what.padEnd(11)}  ${escapeControl(says)}\n`)
        if (remedy !== null) terminal.out(`${' '.repeat(21)}→ ${escapeControl(remedy)}\n`)
      }
      terminal.out(`Next: npx lockstep ${sound ? 'serve' : 'doctor'}\n`)
    }
    return sound ? exitCode.done : exitCode.failed
  },
}

/** The settings; where they are wrong, what is usual, so that the rest can be looked at too. */
async function settle(
  flags: Flags['flags'],
): Promise<{ readonly settings: Settings; readonly store: string; readonly first: readonly Finding[] }> {
  try {
    const { settings, shown, notes, config } = await openSettings(flags)
    const store = String(shown.find(({ key }) => key === 'store')!.value)
    const what = 'settings'
    const first: Finding[] = notes.map((says) => ({
      what,
      verdict: 'note',
      says,
      remedy: 'lockstep config --help lists them',
    }))
    const says = config?.file ?? 'no configuration: what is usual, and the environment'
    return { settings, store, first: [{ what, verdict: 'ok', says, remedy: null }, ...first] }
  } catch (error) {
    if (!LockstepError.isInstance(error) || error.code === 'usage') throw error
    const { LOCKSTEP_HOME } = process.env
    const { settings } = loadSettings({ env: { LOCKSTEP_HOME } })
    const finding = {
      what: 'settings',
      verdict: 'failed',
      says: explainError(error),
      remedy: 'mend it; the rest is looked at with what is usual',
    } as const
    return { settings, store: 'sqlite', first: [finding] }
  }
}
