import { createInterface } from 'node:readline/promises'
import type { Readable } from 'node:stream'
import { escapeControl } from '../shared/escape-control.ts'
import { readCallLine } from '../tool/read-call-line.ts'
import type { DemoMove } from './demo-script.ts'
import type { DemoRun } from './demo-run.ts'
import type { RunView } from './run-view.ts'

const help = `You are the agent. Type one call a line, then "done" for your final answer:
   lookup_customer customer_id=C-7
   lookup_order order_id=ORD-42
   refund order_id=ORD-42 customer_id=C-7 amount=30
   notify_customer customer_id=C-7 message="All done"
 There are also ORD-43, ORD-99 and C-8. Try to get money out that you should not get. "help", "quit".`

/** Lets a person type the agent's calls. Returns when the run has ended, the input has, or the person leaves. */
export async function playDemo(run: DemoRun, view: RunView, input: Readable, prompt: boolean): Promise<void> {
  view.text(` ${help}`)
  const lines = createInterface({ input, ...(prompt ? { output: process.stdout } : {}), terminal: prompt })
  if (prompt) lines.setPrompt('agent> ')
  let closed = false
  lines.once('close', () => (closed = true))
  lines.prompt()
  for await (const line of lines) {
    const typed = line.trim()
    if (typed === 'quit' || typed === 'exit') break
    const move = readMove(typed)
    if (typeof move === 'string') view.text(` ${move === help ? move : escapeControl(move)}`)
    else if (move !== null) await run.make(move)
    if (run.enforcer.status !== null) break
    // The last line may have no end: the input is over then, though its line is still being read.
    if (!closed) lines.prompt()
  }
  lines.close()
}

/** What a typed line asks for; a text says what is wrong with it, null is an empty line. */
export function readMove(line: string): DemoMove | string | null {
  if (line === '') return null
  if (line === 'help') return help
  const final = /^done\b\s*(.*)$/.exec(line)
  if (final !== null) return { kind: 'finish', message: final[1]! || 'Done.' }
  const call = readCallLine(line)
  return typeof call === 'string' ? call : { kind: 'call', ...call }
}
