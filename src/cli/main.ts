import { readFileSync } from 'node:fs'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { applyDotEnv } from '../source/dot-env.ts'
import type { CommandEntry } from './command.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { explainError } from './explain-error.ts'
import { readFlags, unknown } from './read-flags.ts'
import { type Terminal, processTerminal } from './terminal.ts'

const demoHelp = `Usage: lockstep demo [--play]

Shows what Lockstep does, in seconds and without a key or a network: an agent that keeps to a refund playbook, and one
that tries to get around it.

Options:
  --play   you type the agent's calls
`

const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    summary: 'Watch an agent keep to a playbook, and another one try to get around it',
    load: async () => {
      const { runDemo } = await import('./demo-command.ts')
      return {
        help: demoHelp,
        async run(args) {
          readFlags(args, { play: 'switch' })
          return (await runDemo(args)) === 0 ? exitCode.done : exitCode.failed
        },
      }
    },
  },
  {
    name: 'check',
    summary: 'Check playbooks and show every problem with its place',
    load: async () => (await import('./check-command.ts')).checkCommand,
  },
  {
    name: 'explain',
    summary: 'Read a playbook back: what is guaranteed, what is left to a model',
    load: async () => (await import('./explain-command.ts')).explainCommand,
  },
  {
    name: 'fmt',
    summary: 'Put Markdown playbooks into the usual form',
    load: async () => (await import('./fmt-command.ts')).fmtCommand,
  },
  {
    name: 'lock',
    summary: 'Settle what calls in words mean, once, for everyone to review',
    load: async () => (await import('./lock-command.ts')).lockCommand,
  },
  {
    name: 'apply',
    summary: 'Publish the playbooks and policies of a Git tree, or show drift',
    load: async () => (await import('./apply-command.ts')).applyCommand,
  },
  {
    name: 'init',
    summary: 'Write a first playbook to start from',
    load: async () => (await import('./init-command.ts')).initCommand,
  },
  {
    name: 'run',
    summary: 'Let an agent work through a playbook',
    load: async () => (await import('./run-command.ts')).runCommand,
  },
  {
    name: 'resume',
    summary: 'Take up a run that was interrupted or waits for a person',
    load: async () => (await import('./resume-command.ts')).resumeCommand,
  },
  {
    name: 'recover',
    summary: 'Take up every run that was cut off',
    load: async () => (await import('./recover-command.ts')).recoverCommand,
  },
  {
    name: 'tail',
    summary: 'Show a run as it goes on',
    load: async () => (await import('./tail-command.ts')).tailCommand,
  },
  {
    name: 'cancel',
    summary: 'Stop a run for good',
    load: async () => (await import('./cancel-command.ts')).cancelCommand,
  },
  {
    name: 'pause',
    summary: 'Stop a run before its next effect',
    load: async () => (await import('./pause-command.ts')).pauseCommand,
  },
  {
    name: 'unpause',
    summary: 'Let a paused run go on',
    load: async () => (await import('./unpause-command.ts')).unpauseCommand,
  },
  {
    name: 'halt',
    summary: 'Stop all runs before their next effect',
    load: async () => (await import('./halt-command.ts')).haltCommand,
  },
  {
    name: 'unhalt',
    summary: 'Let all runs go on',
    load: async () => (await import('./unhalt-command.ts')).unhaltCommand,
  },
  {
    name: 'approvals',
    summary: 'List the calls that wait for approval',
    load: async () => (await import('./approvals-command.ts')).approvalsCommand,
  },
  {
    name: 'approve',
    summary: 'Approve a call that waits',
    load: async () => (await import('./approve-command.ts')).approveCommand,
  },
  {
    name: 'deny',
    summary: 'Deny a call that waits, with a reason',
    load: async () => (await import('./deny-command.ts')).denyCommand,
  },
  {
    name: 'runs',
    summary: 'List the recorded runs',
    load: async () => (await import('./runs-command.ts')).runsCommand,
  },
  {
    name: 'show',
    summary: 'Show what happened in a run: steps, calls, verdicts, reasons',
    load: async () => (await import('./show-command.ts')).showCommand,
  },
  {
    name: 'export',
    summary: 'Write a run as a file that anybody can verify',
    load: async () => (await import('./export-command.ts')).exportCommand,
  },
  {
    name: 'verify',
    summary: 'Prove that a record was not changed and every decision follows',
    load: async () => (await import('./verify-command.ts')).verifyCommand,
  },
  {
    name: 'tools',
    summary: 'List the tools of the configuration and who uses them',
    load: async () => (await import('./tools-command.ts')).toolsCommand,
  },
  {
    name: 'secret',
    summary: 'Keep secrets for tools, encrypted: set, list, remove',
    load: async () => (await import('./secret-command.ts')).secretCommand,
  },
  {
    name: 'practice',
    summary: 'A service to practise on: serve it, show it, reset it',
    load: async () => (await import('./practice-command.ts')).practiceCommand,
  },
  {
    name: 'policy',
    summary: 'Check policies, test them with cases, explain what they say to a call',
    load: async () => (await import('./policy-command.ts')).policyCommand,
  },
  {
    name: 'serve',
    summary: 'Serve the console, the HTTP interface and the engine in one process',
    load: async () => (await import('./serve-command.ts')).serveCommand,
  },
  {
    name: 'link',
    summary: 'Make a one-time link that signs somebody in to the server',
    load: async () => (await import('./link-command.ts')).linkCommand,
  },
  {
    name: 'config',
    summary: 'Show what is set for the server, and where each value comes from',
    load: async () => (await import('./config-command.ts')).configCommand,
  },
  {
    name: 'status',
    summary: 'Show what is going on: who works on the store, runs, approvals, halts',
    load: async () => (await import('./status-command.ts')).statusCommand,
  },
  {
    name: 'doctor',
    summary: 'Look whether everything is in order, and say what to do if not',
    load: async () => (await import('./doctor-command.ts')).doctorCommand,
  },
  {
    name: 'mcp',
    summary: 'Hold any agent to a playbook, between its MCP client and MCP servers',
    load: async () => (await import('./mcp-command.ts')).mcpCommand,
  },
]

/** Runs the command that the arguments name and sets the exit code of the process; never rejects. */
export async function main(args: readonly string[]): Promise<void> {
  process.exitCode = await runCommandLine(args, processTerminal())
}

/** Runs the command that the arguments name, and says with which exit code it ended; never rejects. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    return await run(args, terminal)
  } catch (error) {
    return explain(error, terminal, args)
  }
}

async function run([name, ...rest]: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (name === undefined) {
    terminal.err(overview())
    return exitCode.usage
  }
  if (name === '--version' || name === '-v') {
    terminal.out(`${version()}\n`)
    return exitCode.done
  }
  const asksForHelp = name === 'help' || name === '--help' || name === '-h'
  const subject = asksForHelp ? rest[0] : name
  if (subject === undefined) {
    terminal.out(overview())
    return exitCode.done
  }
  const entry = commands.find((each) => each.name === subject)
  if (entry === undefined) {
    const words = subject.startsWith('-') ? ['--help', '--version'] : commands.map((each) => each.name)
    throw unknown(subject.startsWith('-') ? 'option' : 'command', subject, words)
  }
  applyDotEnv(process.cwd())
  const command = await entry.load()
  const beforeNames = rest.slice(0, rest.includes('--') ? rest.indexOf('--') : undefined)
  if (asksForHelp || beforeNames.includes('--help') || beforeNames.includes('-h')) {
    terminal.out((await command.helpFor?.(rest, terminal)) ?? command.help)
    return exitCode.done
  }
  return command.run(rest, terminal)
}

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Lockstep keeps AI agents in step with written procedures.

Usage: lockstep COMMAND [ARGUMENTS]

Commands:
${rows.join('\n')}

  lockstep help COMMAND   what a command does, with examples
  lockstep --version      the version of this program

Exit codes: 0 done, 1 failed or errors found, 2 wrong usage, 3 needs input, 4 waits for approval,
5 verification failed.
`
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

function explain(error: unknown, terminal: Terminal, [name = '']: readonly string[]): ExitCode {
  if (!LockstepError.isInstance(error)) {
    terminal.err(`lockstep: internal error: ${escapeControl(String((error as Error).message ?? error))}\n`)
    return exitCode.failed
  }
  terminal.err(`lockstep: ${explainError(error)}\n`)
  if (error.code !== 'usage') return exitCode.failed
  const subject = commands.some((each) => each.name === name) ? ` ${name}` : ''
  terminal.err(`Run \`lockstep help${subject}\` to see how it is used.\n`)
  return exitCode.usage
}
