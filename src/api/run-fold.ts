import type { z } from 'zod'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { approvalIdOf, countOf, isoOf, objectOf, textOf, voteOf } from './entry-values.ts'
import { noticeOf } from './notice-of-entry.ts'
import { askedBy, callOf } from './call-of-entry.ts'
import type { call, entry, run, runStatus } from './run-shapes.ts'

/** A run as its page shows it. */
export type RunPage = z.infer<typeof run>
/** An entry of a run's record as it is sent. */
export type RunEntry = z.infer<typeof entry>
type Call = z.infer<typeof call>
type Status = z.infer<typeof runStatus>
type Step = RunPage['steps'][number]
type Approval = RunPage['approvals'][number]

/**
 * Follows a run: what its page shows after each entry. It goes on from any page that a server sent, because a page holds all that matters. Entries that are
 * known are passed over; `apply` says whether the next one was the next one.
 */
export class RunFold {
  #page: RunPage
  readonly #calls = new Map<string, number>()
  readonly #steps = new Map<string, number>()
  #paused: boolean

  constructor(page: RunPage) {
    this.#page = copyOf(page)
    for (const [index, { id }] of page.callList.entries()) if (id !== null) this.#calls.set(id, index)
    for (const [index, { id }] of page.steps.entries()) this.#steps.set(id, index)
    this.#paused = page.status === 'paused'
  }

  /** The page as it is now; a new one each time, whose parts are not changed afterwards. */
  get page(): RunPage {
    return copyOf(this.#page)
  }

  /** Takes notice of the next entry; false if one before it is missing, so that the page has to be read again. */
  apply(next: RunEntry): boolean {
    if (next.seq <= this.#page.seq) return true
    if (next.seq > this.#page.seq + 1) return false
    if (next.seq === 1) this.#set({ startedAt: next.at, startedBy: next.by })
    this.#set({ seq: next.seq, lastAt: next.at })
    // A time that is waited for passes with the next step.
    const passed = /^(?:step|playbook)\./.test(next.type)
    this.#set({ waitsFor: this.#page.waitsFor.filter(({ kind }) => kind === 'time' && !passed) })
    const notice = noticeOf(next)
    if (notice !== null) this.#page.notices.push({ seq: next.seq, at: next.at, ...notice })
    this.#note(next)
    this.#weigh()
    return true
  }

  #note(next: RunEntry): void {
    const { type, at, data } = next
    switch (type) {
      case 'run.started':
        this.#set({
          digest: textOf(data['playbook']),
          mode: data['mode'] === 'dry-run' ? 'dry-run' : 'execute',
          inputs: (objectOf(data['inputs']) ?? {}) as RunPage['inputs'],
          enforced: data['enforced'] !== false,
        })
        break
      case 'agent.prompted':
        this.#noteOrigin(data)
        break
      case 'tool.admitted':
        this.#begin(next, 'executing', textOf(data['observed']))
        this.#set({ calls: this.#page.calls + 1 })
        this.#decide(data, () => ({ state: 'used' }))
        break
      case 'tool.held':
        this.#hold(next)
        break
      case 'tool.denied':
        this.#deny(next)
        break
      case 'tool.settled':
        this.#settle(next)
        break
      case 'approval.voted':
        this.#decide(data, ({ votes }) => ({
          state: (textOf(data['comesTo']) ?? 'waiting') as Approval['state'],
          votes: [...votes, voteOf(data['vote'])],
        }))
        break
      case 'approval.expired':
        this.#decide(data, () => ({ state: 'expired' }))
        break
      case 'step.opened':
      case 'step.entered':
        this.#step(data, ({ startedAt }) => ({
          status: 'in_progress',
          startedAt: startedAt ?? at,
          endedAt: null,
          note: null,
        }))
        break
      case 'step.completed':
        this.#step(data, ({ startedAt }) => ({
          status: 'completed',
          startedAt: startedAt ?? at,
          endedAt: at,
          note: textOf(data['result']),
        }))
        break
      case 'step.skipped':
        this.#step(data, () => ({ status: 'skipped', endedAt: at, note: textOf(data['reason']) }))
        break
      case 'step.failed':
        this.#step(data, () => ({ status: 'failed', endedAt: at, note: textOf(data['error']) }))
        this.#set({ reason: textOf(data['error']) })
        break
      case 'step.retried':
        this.#step(data, () => ({ status: 'pending', startedAt: null, endedAt: null, note: null }))
        break
      case 'step.undecided':
      case 'step.escalated':
        this.#step(data, () => ({ note: textOf(data['error']) ?? textOf(data['limit']) }))
        break
      case 'branch.passed':
        this.#step({ step: data['arm'] ?? null }, () => ({ status: 'skipped' }))
        break
      case 'branch.taken':
        this.#step({ step: data['arm'] ?? null }, () => ({ status: 'completed', endedAt: at }))
        break
      case 'message.sent':
        this.#say(next, data['by'] === 'model' ? 'model' : 'playbook', textOf(data['text']) ?? '')
        break
      case 'message.received':
        this.#say(next, 'person', textOf(data['text']) ?? '')
        break
      case 'person.awaited':
        this.#ask(next)
        break
      case 'question.answered':
        if (isJsonObject(data['usage'])) this.#spend(data['usage'])
        break
      case 'model.answered':
        if (textOf(data['text'])) this.#say(next, 'model', textOf(data['text'])!)
        this.#spend(data)
        break
      case 'model.consulted':
        this.#spend(data)
        break
      case 'agent.delegated':
        this.#page.children.push({
          run: textOf(data['child']) ?? '',
          call: textOf(data['callId']) ?? '',
          status: 'running',
        })
        break
      case 'agent.returned':
        this.#return(data)
        break
      case 'wait.begun':
        this.#set({ waitsFor: [{ kind: 'time', text: isoOf(data['until']) ?? '' }] })
        break
      case 'run.paused':
        this.#paused = true
        this.#set({ reason: textOf(data['reason']) })
        break
      case 'run.unpaused':
        this.#paused = false
        this.#set({ reason: null })
        break
      case 'run.finished': {
        const status = (textOf(data['status']) ?? 'incomplete') as Status
        const message = textOf(data['message'])
        this.#set({
          endedAt: at,
          status,
          reason: status === 'succeeded' ? null : (message ?? this.#page.reason),
        })
        for (const [index, call] of this.#page.callList.entries())
          if (call.state === 'held') this.#page.callList[index] = { ...call, state: 'not_executed' }
        for (const [index, each] of this.#page.approvals.entries())
          if (each.state === 'waiting' || each.state === 'granted')
            this.#page.approvals[index] = { ...each, state: 'void' }
        break
      }
      default:
    }
  }

  /** Works out what follows from the parts: where the run stands, and what it waits for. */
  #weigh(): void {
    const { endedAt, callList, approvals, conversation } = this.#page
    const waiting = approvals.filter(({ state }) => state === 'waiting')
    this.#set({ waiting: waiting.length })
    if (endedAt !== null) {
      this.#set({ waitsFor: [] })
      return
    }
    const asked = conversation.findLast(({ from, asks }) => from === 'person' || asks)
    const isAsked = asked !== undefined && asked.from !== 'person'
    const busy = callList.some(({ state }) => state === 'executing')
    const unknown = callList.filter(({ state }) => state === 'unknown')
    const waits = (waiting.length > 0 || isAsked || unknown.length > 0) && !busy
    this.#set({
      status: this.#paused ? 'paused' : waits ? 'waiting' : 'running',
      waitsFor: [
        ...waiting.map(({ id, tool }) => ({ kind: 'approval' as const, text: `${tool} (${id})` })),
        ...unknown.map(({ id, tool }) => ({ kind: 'outcome' as const, text: `${tool} (${id})` })),
        ...(isAsked ? [{ kind: 'answer' as const, text: asked.text }] : []),
        ...this.#page.waitsFor,
      ],
    })
  }

  #noteOrigin(data: JsonObject): void {
    const parent = objectOf(data['parent'])
    if (parent !== null) this.#set({ parent: textOf(parent['run']) })
    const origin = objectOf(data['origin'])
    if (origin === null) return
    const runbook = objectOf(origin['runbook'])
    this.#set({ project: textOf(origin['project']), model: textOf(origin['model']) })
    if (runbook !== null)
      this.#set({
        runbook: {
          id: textOf(runbook['id']),
          name: textOf(runbook['name']) ?? this.#page.runbook.name,
          version: typeof runbook['version'] === 'number' ? runbook['version'] : null,
        },
      })
  }

  /** A call that is let through, held, or turned away; an attempt that was held before goes on in its place. */
  #begin(entry: RunEntry, state: Call['state'], code: string | null): void {
    const id = textOf(entry.data['callId'])
    const known = id === null ? undefined : this.#calls.get(id)
    const before = known === undefined ? null : this.#page.callList[known]!
    const made = callOf(
      entry,
      state,
      code,
      before ?? {
        byModel: this.#isProposed(id),
        at: entry.at,
        seq: entry.seq,
        approval: null,
      },
    )
    if (known !== undefined) {
      this.#page.callList[known] = made
      return
    }
    if (id !== null) this.#calls.set(id, this.#page.callList.length)
    this.#page.callList.push(made)
  }

  /** The calls of a model's turn have the number of the turn before them; those of a gateway's client are taken for a model's. */
  #isProposed(id: string | null): boolean {
    if (this.#page.notices.some(({ kind }) => kind === 'served')) return true
    return id !== null && /^\d+\./.test(id) && !this.#steps.has(id.replace(/[#[?~].*$/, ''))
  }

  #deny(next: RunEntry): void {
    const { data } = next
    const code = textOf(data['code'])
    // What is only observed is followed by the call, which says so itself.
    if (data['blocked'] !== true) return
    if (code === 'awaiting_approval') return
    this.#set({ denied: this.#page.denied + 1 })
    this.#begin(next, 'denied', code)
  }

  #hold(next: RunEntry): void {
    const callId = textOf(next.data['callId']) ?? ''
    this.#begin(next, 'held', null)
    const index = this.#calls.get(callId)!
    const call = this.#page.callList[index]!
    const { id, project, runbook } = this.#page
    const approval = askedBy(next, call, { id, project, name: runbook.name })
    this.#page.callList[index] = { ...call, approval: approval.id }
    this.#page.approvals.push(approval)
  }

  #settle({ at, data }: RunEntry): void {
    const index = this.#calls.get(textOf(data['callId']) ?? '')
    if (index === undefined) return
    const call = this.#page.callList[index]!
    const outcome = (textOf(data['outcome']) ?? 'unknown') as Call['state']
    this.#page.callList[index] = {
      ...call,
      state: call.state === 'denied' ? 'denied' : data['shown'] === true ? 'shown' : outcome,
      settledAt: at,
      result: data['result'] ?? null,
      error: textOf(data['error']),
    }
    this.#decide(data, ({ state }) => ({
      state: state === 'waiting' || state === 'granted' ? 'void' : state,
    }))
  }

  #return(data: JsonObject): void {
    const index = this.#page.children.findIndex(({ run: child }) => child === data['child'])
    const known = this.#page.children[index]
    const status = (textOf(data['status']) ?? 'incomplete') as Status
    if (known !== undefined) this.#page.children[index] = { ...known, status }
    this.#spend(data)
  }

  #decide(data: JsonObject, change: (approval: Approval) => Partial<Approval>): void {
    const id = approvalIdOf(this.#page.id, textOf(data['callId']) ?? '')
    const index = this.#page.approvals.findLastIndex((each) => each.id === id)
    const known = this.#page.approvals[index]
    if (known !== undefined) this.#page.approvals[index] = { ...known, ...change(known) }
  }

  #step(data: JsonObject, change: (step: Step) => Partial<Step>): void {
    const index = this.#steps.get(textOf(data['step']) ?? '')
    const known = index === undefined ? undefined : this.#page.steps[index]
    if (known !== undefined) this.#page.steps[index!] = { ...known, ...change(known) }
  }

  #say({ seq, at }: RunEntry, from: 'person' | 'playbook' | 'model', text: string): void {
    this.#page.conversation.push({ seq, from, text, at, asks: false })
  }

  /** The last thing that was said asks; where nothing was, there is a question without words. */
  #ask({ seq, at }: RunEntry): void {
    const last = this.#page.conversation.at(-1)
    if (last === undefined || last.from === 'person' || last.asks)
      this.#page.conversation.push({ seq, from: 'playbook', text: '', at, asks: true })
    else this.#page.conversation[this.#page.conversation.length - 1] = { ...last, asks: true }
  }

  #spend(used: JsonObject): void {
    const estimated = objectOf(used['estimated']) ?? {}
    const counts = [used, estimated].flatMap((each) => [each['promptTokens'], each['completionTokens']])
    const tokens = [...counts, estimated['tokens']].reduce<number>((sum, count) => sum + countOf(count), 0)
    const cost = typeof used['cost'] === 'number' ? used['cost'] : null
    const { cost: before } = this.#page
    this.#set({
      tokens: this.#page.tokens + tokens,
      cost: before === null || cost === null ? null : before + cost,
    })
  }

  #set(change: Partial<RunPage>): void {
    this.#page = { ...this.#page, ...change }
  }
}

/** A page with lists of its own. */
function copyOf(page: RunPage): RunPage {
  return {
    ...page,
    steps: [...page.steps],
    callList: [...page.callList],
    approvals: [...page.approvals],
    conversation: [...page.conversation],
    notices: [...page.notices],
    children: [...page.children],
  }
}
