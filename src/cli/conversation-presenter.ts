import type { AgentEvent } from '../app.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { Step } from '../playbook/program.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LiveText, type TextCleaner } from './live-text.ts'
import { RunPresenter } from './run-presenter.ts'
import type { RunView } from './run-view.ts'

/** How a conversation is shown. */
export interface ConversationScreen {
  readonly view: RunView
  /** Writes as it is, where a text is still coming. */
  readonly write: (text: string) => void
  /** Whether every bullet is told when it begins. */
  readonly verbose: boolean
  /** Whether a person types at a terminal, and wants to see that it is their turn. */
  readonly prompts: boolean
  /** The place in the file that an error is about. */
  readonly placeOf: (error: string) => string | null
  /** What takes secrets out of a text that is still coming. */
  readonly cleaner: TextCleaner
}

/** Shows a program as the conversation that it is: what is said, the calls in between, and with `-v` every bullet. */
export class ConversationPresenter {
  readonly #playbook: Playbook
  readonly #screen: ConversationScreen
  readonly #calls: RunPresenter
  /** The playbooks of the program: their calls are steps of it, and not shown as calls. */
  readonly #own: ReadonlySet<string>
  readonly #inside = new Set<string>()
  /** The bullets whose words are a model's, and go to the person. */
  readonly #speaking: ReadonlySet<string>
  /** The question whose answer is said to the person as soon as it is there. */
  #spoken: string | null = null
  #streamed: LiveText | null = null
  /** What went wrong last. On its way out it fails every bullet around it, which is told once. */
  #failure: string | null = null

  constructor(playbook: Playbook, screen: ConversationScreen) {
    this.#playbook = playbook
    this.#screen = screen
    this.#calls = new RunPresenter(playbook, screen.view)
    const playbooks = playbook.program?.agents.flatMap((agent) => agent.playbooks) ?? []
    this.#own = new Set(playbooks.filter(({ mode }) => mode !== 'host').map(({ id }) => id))
    this.#speaking = new Set(playbooks.flatMap(({ steps }) => speakingSteps(steps)))
  }

  get counts(): RunPresenter['counts'] {
    return this.#calls.counts
  }

  /** Takes note of what happened before, and shows what was said. */
  recall(event: AgentEvent): void {
    if (event.type === 'message.sent') this.#say(event.text)
    else if (event.type === 'message.received') this.#screen.view.text(`> ${lines(event.text)}`)
    else if (!this.#isInside(event)) this.#calls.recall(event)
  }

  /** Shows what an event means to people; many mean nothing. */
  show(event: AgentEvent): void {
    switch (event.type) {
      case 'question.asked':
        this.#spoken = this.#firstSpoken(event)
        break
      case 'text.delta':
        this.#stream(event)
        break
      case 'message.sent':
        this.#say(event.text)
        break
      case 'person.awaited':
        if (this.#screen.prompts) this.#screen.write('> ')
        break
      case 'step.failed':
        this.#fail(event)
        break
      case 'step.entered':
        if (this.#screen.verbose) this.#tellStep(event.step)
        break
      default:
        if (!this.#isInside(event)) this.#calls.show(event)
    }
  }

  #firstSpoken({ questions }: Extract<AgentEvent, { type: 'question.asked' }>): string | null {
    const [first] = questions
    // Only what is certainly said next may appear before it is whole; what a bullet keeps for itself is nobody's to see.
    return first?.kind === 'write' && this.#speaking.has(first.id) ? first.id : null
  }

  #stream({ text, question, anew }: Extract<AgentEvent, { type: 'text.delta' }>): void {
    if (question === undefined || question !== this.#spoken) return
    if (anew === true) this.#breakOff()
    this.#streamed ??= new LiveText(this.#screen.cleaner)
    this.#screen.write(lines(this.#streamed.push(text)))
  }

  #say(text: string): void {
    const streamed = this.#streamed
    this.#streamed = null
    const rest = streamed?.end() ?? ''
    const whole = streamed?.shown ?? ''
    if (whole === '') this.#screen.view.text(lines(text))
    // What was streamed is the text, but for space at its end.
    else if (whole.trim() === text.trim()) this.#screen.write(`${lines(rest)}\n`)
    else this.#screen.view.text(`\n${lines(text)}`)
  }

  #fail(event: Extract<AgentEvent, { type: 'step.failed' }>): void {
    const { step, error } = event
    const known =
      error === 'the playbook failed' || (this.#failure !== null && error.endsWith(`: ${this.#failure}`))
    if (known) return
    this.#breakOff()
    this.#failure = error
    const place = this.#screen.placeOf(`${step}: ${error}`)
    this.#calls.show(place === null ? event : { ...event, error: `${error} (${place})` })
  }

  /** The words that were coming do not go on. */
  #breakOff(): void {
    const rest = this.#streamed?.end() ?? ''
    if (this.#streamed !== null && this.#streamed.shown !== '') this.#screen.write(`${lines(rest)}\n`)
    this.#streamed = null
  }

  #tellStep(id: string): void {
    const step = this.#playbook.getStep(id)
    if (step !== null) this.#screen.view.note(`${id}  ${escapeControl(step.description.split('\n')[0]!)}`)
  }

  /** A call of one of the program's own playbooks. */
  #isInside(event: AgentEvent): boolean {
    if (event.type === 'tool.admitted' && this.#own.has(event.tool)) this.#inside.add(event.callId)
    return 'callId' in event && event.callId !== null && this.#inside.has(event.callId)
  }
}

function speakingSteps(steps: readonly Step[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'if') return step.arms.flatMap((arm) => speakingSteps(arm.steps))
    if (step.kind === 'loop' || step.kind === 'each') return speakingSteps(step.steps)
    return (step.kind === 'say' || step.kind === 'ask') && step.words?.kind === 'written' ? [step.id] : []
  })
}

function lines(text: string): string {
  return text.split('\n').map(escapeControl).join('\n')
}
