import { serve, type Served } from '../app-serve.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactText } from '../shared/redact.ts'
import { consoleFolder } from '../source/console-folder.ts'
import type { Settings } from '../source/settings.ts'
import { usesFiles } from '../source/store-place.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { readFlags } from './read-flags.ts'
import { openSettings, settingFlags, settingFlagsHelp } from './setting-flags.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep serve [OPTIONS]

Serves the console, the HTTP interface and the engine in one process, on this machine only unless another --host is set. The first start prints two one-time links,
for an admin and for somebody who approves, publishes samples, and begins a run that waits for the second. Later, lockstep link EMAIL makes a new link.

Options:
${settingFlagsHelp}

Everything that can be set, and where: docs/reference/settings.md. lockstep config shows what applies, lockstep doctor whether it works here.
Ctrl-C ends it: nothing more is taken, and what is in flight is waited for. Runs go on at the next start.

Exit codes: 0 ended as asked, 1 failed, 2 wrong usage.

Examples:
  lockstep serve
  lockstep serve --port 9000 --from ../our-playbooks
`

/** `lockstep serve`: the server, until it is asked to end. */
export const serveCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, settingFlags)
    if (names.length > 0) throw new LockstepError('usage', 'serve takes no names')
    const { settings, config, notes } = await openSettings(flags)
    if (usesFiles())
      throw new LockstepError(
        'usage',
        'the server keeps runs in the chained store, and LOCKSTEP_STORE asks for files',
        {
          hint: 'unset LOCKSTEP_STORE',
        },
      )
    for (const note of notes) terminal.err(`lockstep: ${escapeControl(note)}\n`)
    const ending = untilAsked(terminal)
    const served = await serve({
      settings,
      config,
      log: process.stderr,
      onTrouble: (what, error) => terminal.err(`lockstep: ${describeTrouble(what, error)}\n`),
    })
    for (const line of greet(served, settings)) terminal.out(`${line}\n`)
    await ending
    await served.close()
    terminal.out('Ended. Runs that were under way go on at the next start.\n')
    return exitCode.done
  },
}

/** Resolves at the first request to end; the second ends the process at once. */
function untilAsked(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (asked) process.exit(exitCode.failed)
        asked = true
        terminal.err(`\nEnding${signal === 'SIGINT' ? '; press Ctrl-C again to leave at once' : ''}.\n`)
        resolve()
      })
  })
}

function greet({ url, platform, firstLinks, sampleRun }: Served, { home, host }: Settings): string[] {
  const width = Math.max(0, ...firstLinks.map(({ email }) => email.length))
  const local = /^(?:127(?:\.\d+){3}|localhost|::1)$/.test(host)
  return [
    `Lockstep ${platform.version} serves ${platform.url()}${platform.url() === url ? '' : ` (listening on ${url})`}`,
    `Data folder: ${escapeControl(home)}`,
    ...(local
      ? []
      : [
          'It can be reached from other machines: let nobody in without TLS in front, and set --public-url https://…',
        ]),
    ...(consoleFolder() === null
      ? ['The console is not built: npm run build:console. The HTTP interface works without it.']
      : []),
    ...(firstLinks.length === 0
      ? [`Sign in at ${platform.url()}/console/; for a new link: npx lockstep link EMAIL`]
      : [
          'Sign in with these links; each works once, for a day:',
          ...firstLinks.map(({ email, address }) => `  ${email.padEnd(width)}  ${address}`),
        ]),
    ...(sampleRun === null
      ? []
      : [
          `A sample run waits for the approver: ${sampleRun}. It acts on the practice service, where nothing is real.`,
        ]),
    'Ctrl-C ends it.',
  ]
}

function describeTrouble(what: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return escapeControl(redactText(`${what}: ${message}`))
}
