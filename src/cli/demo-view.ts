import { styleText } from 'node:util'
import { escapeControl } from '../document/escape-control.ts'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import type { StepExecution } from '../tool/step-execution.ts'
import type { JsonObject } from '../shared/json.ts'

/** Where the demo writes, and how: a terminal gets colours and a live list of steps, a pipe gets plain lines. */
export interface DemoScreen {
  readonly write: (text: string) => void
  readonly live: boolean
  readonly colour: boolean
}

const marks = { completed: '✓', failed: '✗', skipped: '–', in_progress: '▸', pending: '·' } as const

/** Shows a run as it happens. */
export class DemoView {
  readonly #screen: DemoScreen
  #shown = 0

  constructor(screen: DemoScreen) {
    this.#screen = screen
  }

  /** Writes a heading. */
  heading(text: string): void {
    this.#line(`\n${this.#paint('bold', text)}`)
  }

  /** Writes plain text. */
  text(text: string): void {
    this.#line(text)
  }

  /** Writes a call that was let through and done. */
  passed(tool: string, args: JsonObject, note: string): void {
    this.#line(` ${this.#paint('green', '✓')} ${describe(tool, args)}  ${this.#paint('dim', note)}`)
  }

  /** Writes a call that was stopped, and why. */
  stopped(tool: string, args: JsonObject, verdict: string, why: string): void {
    this.#line(
      ` ${this.#paint('red', '✗')} ${describe(tool, args)}  ${this.#paint('red', verdict)} ${escapeControl(why)}`,
    )
  }

  /** Shows the steps below everything written so far; on a terminal the list stays there and is kept up to date. */
  steps(enforcer: PlaybookEnforcer): void {
    if (!this.#screen.live) return
    this.#clear()
    const width = 24
    const filled = Math.round(enforcer.progress * width)
    const lines = [
      '',
      ...enforcer.plan.executions.map((execution) => {
        const text = ` ${marks[execution.status]} ${execution.stepId}`
        const due = execution.stepId === enforcer.currentStep?.id
        return due
          ? this.#paint('bold', text)
          : execution.status === 'completed'
            ? this.#paint('green', text)
            : text
      }),
      ` ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${Math.round(enforcer.progress * 100)} %`,
    ]
    this.#screen.write(lines.map((line) => `${line}\n`).join(''))
    this.#shown = lines.length
  }

  /** Writes what the run leaves behind: each step, its calls and how they ended. */
  record(enforcer: PlaybookEnforcer): void {
    this.#clear()
    this.heading('The record')
    const wide = Math.max(...enforcer.playbook.steps.map((step) => step.id.length))
    for (const [index, execution] of enforcer.plan.executions.entries()) {
      const status = execution.status.padEnd(11)
      this.#line(` ${index + 1} ${execution.stepId.padEnd(wide)}  ${status}  ${describeCalls(execution)}`)
    }
  }

  /** Takes the live list of steps away, so that what follows stands in its place. */
  end(): void {
    this.#clear()
  }

  #paint(style: 'bold' | 'dim' | 'green' | 'red', text: string): string {
    return this.#screen.colour ? styleText(style, text, { validateStream: false }) : text
  }

  #line(text: string): void {
    this.#clear()
    this.#screen.write(`${text}\n`)
  }

  #clear(): void {
    if (this.#shown > 0) this.#screen.write(`\u001b[${this.#shown}A\u001b[0J`)
    this.#shown = 0
  }
}

function describe(tool: string, args: JsonObject): string {
  const amount = typeof args['amount'] === 'number' ? `$${args['amount']}` : ''
  const subject = args['order_id'] ?? args['customer_id'] ?? ''
  return `${escapeControl(tool).padEnd(16)} ${escapeControl(String(subject)).padEnd(7)} ${amount.padEnd(6)}`
}

function describeCalls(execution: StepExecution): string {
  return execution.calls
    .map(
      (call) =>
        `${call.tool}(${Object.values(call.arguments ?? {})
          .map((value) => escapeControl(String(value)))
          .join(', ')}) ${call.outcome}`,
    )
    .join(', ')
}
