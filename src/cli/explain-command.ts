import { resolve } from 'node:path'
import { explainPlaybook } from '../playbook/explain/explain-playbook.ts'
import { explainProgram } from '../playbook/explain/explain-program.ts'
import type { Explanation, Mark } from '../playbook/explain/explanation.ts'
import { renderExplanation } from '../playbook/explain/render-explanation.ts'
import { writeMermaid } from '../playbook/explain/write-mermaid.ts'
import { isInstance } from '../playbook/is-instance.ts'
import { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadModule } from '../source/load-module.ts'
import { loadPlaybook } from '../source/load-playbook.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { knownTools } from './known-tools.ts'
import { quote } from './next-command.ts'
import { isMarkdown } from '../source/load-program.ts'
import { openMarkdown } from './open-markdown.ts'
import { readFlags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep explain FILE [--json | --mermaid] [--config FILE]

Reads a playbook or runbook back in plain sentences, each step marked: guaranteed (it happens as written, every time), left to the
model (with the tools it may touch), or asks a person, who answers or approves. Then which notes are enforced, when triggers fire, the most
model calls a run can take, and the flow as a drawing. Nothing is run.

Options:
  --json         all of it as one JSON document
  --mermaid      the flow as a Mermaid flowchart, for a page
  --config FILE  the configuration that names the tools, instead of the nearest lockstep.config.yaml

Exit codes: 0 explained, 1 the playbook has errors, 2 wrong usage.

Examples:
  lockstep explain refund.md
  lockstep explain refund.yaml --mermaid > refund.mmd
`

/** `lockstep explain`: reads a playbook back. */
export const explainCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { json: 'switch', mermaid: 'switch', config: { value: 'FILE' } })
    const [file, ...more] = names
    if (file === undefined || more.length > 0) throw new LockstepError('usage', 'explain takes one playbook')
    if (flags.has('json') && flags.has('mermaid'))
      throw new LockstepError('usage', '--json and --mermaid exclude each other')
    const explanation = await explain(file, flags.get('config'), terminal)
    if (explanation === null) return exitCode.failed
    if (flags.has('json')) terminal.out(`${JSON.stringify(explanation, null, 2)}\n`)
    else if (flags.has('mermaid')) terminal.out(writeMermaid(explanation))
    else {
      terminal.out(
        renderExplanation(explanation, {
          command: `npx lockstep run ${quote(file)}${needsNoModel(file, explanation) ? '' : ' --model me'}`,
          width: Math.min(process.stdout.columns ?? 100, 120),
          ...(terminal.colour ? { paint: colour } : {}),
        }),
      )
    }
    return exitCode.done
  },
}

async function explain(
  file: string,
  config: string | undefined,
  terminal: Terminal,
): Promise<Explanation | null> {
  if (isMarkdown(file)) {
    const tools = await knownTools(file, config, terminal)
    const program = await openMarkdown(file, config, terminal, tools)
    const risks = new Map(tools.map(({ name, risk }) => [name, risk]))
    return program === null ? null : explainProgram(program, risks)
  }
  const playbook = /\.m?ts$/i.test(file) ? await playbookOf(file) : loadPlaybook(file)
  const calls = playbook.steps.some((step) => step.tool !== null)
  const tools = calls ? await knownTools(file, config, terminal) : []
  return explainPlaybook(playbook, new Map(tools.map(({ name, risk }) => [name, risk])))
}

/** A runbook of calls alone runs without anybody to choose them. */
function needsNoModel(file: string, { steps: { total, withoutModel } }: Explanation): boolean {
  return !isMarkdown(file) && total > 0 && total === withoutModel
}

/** The playbook that a module exports. Throws `invalid_input` if that is none or several. */
async function playbookOf(file: string): Promise<Playbook> {
  const exported = Object.values(await loadModule(resolve(file)))
  const [playbook, ...more] = new Set(exported.filter((value) => isInstance(value, Playbook)))
  if (playbook !== undefined && more.length === 0) return playbook
  const found = playbook === undefined ? 'no playbook' : `${more.length + 1} playbooks`
  throw new LockstepError('invalid_input', `${file} exports ${found}`, { hint: 'export exactly one' })
}

const codes: Readonly<Record<Mark, number>> = { guaranteed: 32, 'left to the model': 33, 'asks a person': 36 }

function colour(mark: Mark, text: string): string {
  return `\u001b[${codes[mark]}m${text}\u001b[39m`
}
