import { styleText } from 'node:util'
import { describeCall } from '../overview/describe-call.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { PlaybookPlan } from '../tool/playbook-plan.ts'
import type { StepStatus } from '../run/step-status.ts'
import type { StepExecution } from '../tool/step-execution.ts'
import type { JsonObject } from '../shared/json.ts'

/** Where a run is shown, and how: a terminal gets colours and a live list of steps, a pipe gets plain lines. */
export interface RunScreen {
  readonly write: (text: string) => void
  readonly live: boolean
  readonly colour: boolean
}

/** A step as the list shows it. */
export interface ShownStep {
  readonly id: string
  readonly status: StepStatus
  readonly due: boolean
}

/** How a call is put in a line: its tool and what matters of its arguments. */
export type DescribeCall = (tool: string, args: JsonObject) => string

const marks = { completed: '✓', failed: '✗', skipped: '–', in_progress: '▸', pending: '·' } as const

/** Shows a run as it happens. */
export class RunView {
  readonly #screen: RunScreen
  readonly #describe: DescribeCall
  #shown = 0

  constructor(screen: RunScreen, describe: DescribeCall = describeCall) {
    this.#screen = screen
    this.#describe = describe
  }

  /** Writes a heading. */
  heading(text: string): void {
    this.#line(`\n${this.#paint('bold', text)}`)
  }

  /** Writes plain text. */
  text(text: string): void {
    this.#line(text)
  }

  /** Writes something that is there for those who want to know more. */
  note(text: string): void {
    this.#line(this.#paint('dim', `   · ${text}`))
  }

  /** Writes a call that was let through and done. */
  passed(tool: string, args: JsonObject, note: string): void {
    this.#line(` ${this.#paint('green', '✓')} ${this.#describe(tool, args)}  ${this.#paint('dim', note)}`)
  }

  /** Writes a call that would have been made. */
  shown(tool: string, args: JsonObject, note: string): void {
    this.#line(` ${this.#paint('cyan', '○')} ${this.#describe(tool, args)}  ${this.#paint('dim', note)}`)
  }

  /** Writes a call that was stopped, and why. */
  stopped(tool: string, args: JsonObject, verdict: string, why: string): void {
    this.#line(
      ` ${this.#paint('red', '✗')} ${this.#describe(tool, args)}  ${this.#paint('red', verdict)} ${escapeControl(why)}`,
    )
  }

  /** Shows the steps below everything written so far; on a terminal the list stays there and is kept up to date. */
  steps(steps: readonly ShownStep[], progress: number): void {
    if (!this.#screen.live) return
    this.#clear()
    const width = 24
    const filled = Math.round(progress * width)
    const lines = [
      '',
      ...steps.map(({ id, status, due }) => {
        const text = ` ${marks[status]} ${id}`
        return due ? this.#paint('bold', text) : status === 'completed' ? this.#paint('green', text) : text
      }),
      ` ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${Math.round(progress * 100)} %`,
    ]
    this.#screen.write(lines.map((line) => `${line}\n`).join(''))
    this.#shown = lines.length
  }

  /** Writes what the run leaves behind: each step, its calls and how they ended. */
  record(plan: PlaybookPlan): void {
    this.#clear()
    this.heading('The record')
    const wide = Math.max(...plan.executions.map(({ stepId }) => stepId.length))
    for (const [index, execution] of plan.executions.entries()) {
      const status = execution.status.padEnd(11)
      this.#line(` ${index + 1} ${execution.stepId.padEnd(wide)}  ${status}  ${describeCalls(execution)}`)
    }
  }

  /** Takes the live list of steps away, so that what follows stands in its place. */
  end(): void {
    this.#clear()
  }

  #paint(style: 'bold' | 'cyan' | 'dim' | 'green' | 'red', text: string): string {
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
