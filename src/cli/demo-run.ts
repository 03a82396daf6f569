import type { Playbook } from '../playbook/playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { createDemoDesk, type DemoDesk } from './demo-desk.ts'
import type { DemoMove } from './demo-script.ts'
import type { RunView } from './run-view.ts'

/** One run of the demo: a shop, the gate before it, and a count of what passed and what did not. */
export class DemoRun {
  readonly desk: DemoDesk = createDemoDesk()
  readonly enforcer: PlaybookEnforcer
  readonly #view: RunView
  #done = 0
  #stopped = 0

  constructor(playbook: Playbook, view: RunView) {
    this.enforcer = PlaybookEnforcer.fromPlaybook(playbook, { tools: this.desk.tools })
    this.#view = view
    this.#showSteps()
  }

  /** Lets the agent make one move, through the gate, and shows what became of it. */
  async make(move: DemoMove): Promise<void> {
    if (move.kind === 'finish') this.#finish(move.message)
    else await this.#call(move.tool, move.args)
    this.#showSteps()
  }

  /** Shows the record of the run, what really happened in the shop, and how it ended. */
  close(): void {
    this.#view.record(this.enforcer.plan)
    const total = this.desk.paid.reduce((sum, { amount }) => sum + amount, 0)
    const paid = this.desk.paid.length
    this.#view.text(
      ` In the shop: ${paid} refund${paid === 1 ? '' : 's'} paid, $${total} in all; told: ${this.desk.told.join(', ') || 'nobody'}.`,
    )
    this.#view.text(
      `${this.enforcer.status ?? 'not finished'} · ${this.#done} done, ${this.#stopped} stopped`,
    )
  }

  #showSteps(): void {
    const { plan, currentStep, progress } = this.enforcer
    const steps = plan.executions.map(({ stepId, status }) => ({
      id: stepId,
      status,
      due: stepId === currentStep?.id,
    }))
    this.#view.steps(steps, progress)
  }

  async #call(tool: string, args: JsonObject): Promise<void> {
    const outcome = await this.enforcer.call(tool, args)
    const steps = this.enforcer.playbook.steps.length
    if (outcome.status === 'succeeded') {
      this.#done++
      const step = outcome.enforcement?.currentStep ?? null
      const number = step === null ? 0 : this.enforcer.playbook.getStepIndex(step.id)! + 1
      this.#view.passed(tool, args, `step ${number}/${steps} ${step?.id ?? ''}`)
      return
    }
    this.#stopped++
    const denied = outcome.status === 'denied'
    const verdict = denied ? `DENIED ${outcome.enforcement?.code}:` : `${outcome.status.toUpperCase()}:`
    this.#view.stopped(tool, args, verdict, outcome.error)
  }

  #finish(message: string): void {
    const { accepted, status, remaining, unsettled } = this.enforcer.finish(message)
    if (accepted) {
      this.#view.passed('final answer', {}, message)
      return
    }
    this.#stopped++
    const left = [...remaining, ...unsettled].map((each) => `"${each}"`).join(', ')
    const ended = status === null ? '' : `; the run ends ${status}`
    this.#view.stopped(
      'final answer',
      {},
      status === null ? 'SENT BACK:' : 'NOT ACCEPTED:',
      `${left} ${remaining.length + unsettled.length === 1 ? 'remains' : 'remain'}${ended}`,
    )
  }
}
