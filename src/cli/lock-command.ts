import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { answerQuestions } from '../app.ts'
import type { ProgramTool } from '../playbook/markdown/callables.ts'
import type { UnresolvedStep } from '../playbook/markdown/step-context.ts'
import { stepHash } from '../playbook/markdown/step-hash.ts'
import type { Program } from '../playbook/program.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { checkLockedCall } from '../source/check-locked-call.ts'
import { type LockEntry, lockPathOf, readPlaybookLock, writePlaybookLock } from '../source/playbook-lock.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { knownTools } from './known-tools.ts'
import { lockQuestions } from './lock-questions.ts'
import { isMarkdown } from '../source/load-program.ts'
import { readMarkdown, showDiagnostics } from './open-markdown.ts'
import { readFlags } from './read-flags.ts'
import { defaultModel } from './run-request.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep lock FILE [--model MODEL] [--all] [--again] [--config FILE]

Settles what bullets mean that call something in words and fit no name exactly. A model is asked once for each; what it
says is checked and kept in FILE.lock.yaml, for people to review. It counts until the bullet is changed. Bullets that are
not settled are worked on by a model at run time, inside a boundary.

Options:
  --model MODEL  openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me: you choose (the default on a terminal)
  --all          ask about every bullet that is left to a model, not only those that resemble a name
  --again        ask again about those that are settled
  --config FILE  the configuration that names the tools, instead of the nearest lockstep.config.yaml

A tool whose effect cannot be undone is settled only by a person.

Exit codes: 0 done, 1 the playbook has errors or an answer was refused, 2 wrong usage.

Example:
  lockstep lock refund.md --model me
`

const rules = {
  model: { value: 'openai:…, anthropic:…, openai-compatible:…, scripted:FILE or me' },
  all: 'switch',
  again: 'switch',
  config: { value: 'FILE' },
} as const

/** `lockstep lock`: settles what calls in words mean. */
export const lockCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, rules)
    const [file, ...more] = names
    if (file === undefined || more.length > 0) throw new LockstepError('usage', 'lock takes one playbook')
    if (!isMarkdown(file))
      throw new LockstepError(
        'usage',
        `only Markdown playbooks (.md, .pb) call in words, and ${file} is none`,
      )
    const tools = await knownTools(file, flags.get('config'), terminal)
    // Without what is settled, so that every bullet shows that could be.
    const reading = readMarkdown(file, { tools, withoutLock: true })
    const lock = readPlaybookLock(file)
    const { program } = reading
    if (program === null || lock.diagnostics.length > 0) {
      showDiagnostics([...reading.diagnostics, ...lock.diagnostics], terminal, reading.quote)
      return exitCode.failed
    }
    // What an imported file says is settled where it stands.
    const own = reading.unresolved.filter((step) => step.file === file)
    const open = new Map(own.map((step) => [stepHash(step.text, step), step]))
    const kept = flags.has('again') ? [] : lock.entries.filter(({ hash }) => open.has(hash))
    const gone = lock.entries.filter(({ hash }) => !open.has(hash))
    for (const { text } of gone) say(terminal, `no longer there: ${text}`)
    const asked = [...open.values()].filter(
      (step) =>
        (flags.has('all') || step.candidates.length > 0) &&
        !kept.some(({ hash }) => hash === stepHash(step.text, step)),
    )
    const model = asked.length === 0 ? '' : (flags.get('model') ?? defaultModel('lock'))
    const session = { file, text: readFileSync(file, 'utf8'), program, tools, model, terminal }
    const fresh = asked.length === 0 ? [] : await settle(asked, session)
    if (fresh.length > 0 || gone.length > 0) {
      writePlaybookLock(file, [...kept, ...fresh])
      say(terminal, `Wrote ${lockPathOf(file)}: review it, and keep it with the playbook.`)
    } else say(terminal, asked.length > 0 ? 'Nothing was settled.' : 'There is nothing to settle.')
    process.stdin.destroy()
    return fresh.length < asked.length ? exitCode.failed : exitCode.done
  },
}

interface Session {
  readonly file: string
  readonly text: string
  readonly program: Program
  readonly tools: readonly ProgramTool[]
  readonly model: string
  readonly terminal: Terminal
}

/** Asks what the bullets mean, and keeps the answers that can stand. */
async function settle(steps: readonly UnresolvedStep[], session: Session): Promise<LockEntry[]> {
  const { program, tools, text, model, terminal } = session
  const batch = lockQuestions(steps, program, tools, text)
  const answers = await answerQuestions(model, batch, { input: process.stdin, output: process.stdout })
  const entries: LockEntry[] = []
  for (const [index, step] of steps.entries()) {
    const answer = answers[batch.questions[index]!.id]
    const said = answer?.kind === 'extract' ? answer.values['call'] : null
    const call = typeof said === 'string' && said.trim() !== '' ? said.trim() : null
    const objection = call === null ? null : await objectionTo(call, step, session)
    const meant =
      objection === null ? (call ?? 'no call; a model works on it') : `refused, ${call}: ${objection}`
    say(terminal, `${step.step} ${step.text} → ${meant}`)
    if (objection !== null) continue
    const at = new Date().toISOString().slice(0, 10)
    entries.push({ step: step.step, text: step.text, hash: stepHash(step.text, step), call, by: model, at })
  }
  return entries
}

/** Why a call cannot be kept; null if it can. */
async function objectionTo(call: string, step: UnresolvedStep, session: Session): Promise<string | null> {
  const { file, text, tools, model } = session
  const checked = checkLockedCall(step, call, text, (written) =>
    readMarkdown(file, { tools, withoutLock: true, text: written }),
  )
  if (checked.problem !== null) return checked.problem
  const final = checked.targets.flatMap((target) => {
    const risk =
      target.kind === 'tool' ? (tools.find(({ name }) => name === target.name)?.risk ?? 'irreversible') : null
    return target.kind === 'tool' && risk === 'irreversible' ? [target.name] : []
  })
  if (final.length === 0 || model === 'me') return null
  const confirmed = await confirm(`${step.text} → ${call}\n${final.join(', ')} cannot be undone. Settle it?`)
  return confirmed ? null : 'what cannot be undone is settled by a person, with --model me'
}

function say(terminal: Terminal, text: string): void {
  terminal.out(`${escapeControl(text.replaceAll('\n', ' '))}\n`)
}

/** Asks the person at the terminal; where there is none, the answer is no. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const shown = question.split('\n').map(escapeControl).join('\n')
    return /^y(?:es)?$/i.test((await reader.question(`${shown} [y/N] `)).trim())
  } finally {
    reader.close()
  }
}
