/**
 * Bullets → steps, each bullet one step.
 *
 * Invariants:
 * 1. Control flow comes from a recognised form only; everything else is a leaf.
 * 2. What stands below a bullet that opens nothing never runs: it is an error, or, below words for a person, what those words
 *    are to cover.
 * 3. `Otherwise` belongs to the branch right before it.
 */
import type { MarkdownItem } from '../../document/markdown-block.ts'
import type { Arm, Step, StepBody } from '../program.ts'
import { actForm, extractionForm, warnIfSpokenCall } from './act-form.ts'
import { assignmentForm } from './assignment-form.ts'
import { type BranchHead, branchHead } from './branch-form.ts'
import { type Bullet, bulletOf, longestForm, partOf, reworded } from './bullet.ts'
import { callForm, callInWords } from './call-form.ts'
import { confirmForm, looksAtAnswer } from './confirm-form.ts'
import { endingForm } from './ending-form.ts'
import { Findings, quote } from './findings.ts'
import { holds } from './glance.ts'
import { goesOn, wantsAgreement } from './goes-on.ts'
import { guardForm } from './guard-form.ts'
import { loopHead } from './loop-form.ts'
import { noteLooseGuard, noteProse, noteQuestion } from './loose-guard.ts'
import { lostCall } from './lost-call.ts'
import { lostEnding, nearForm } from './near-form.ts'
import { speechForm } from './speech-form.ts'
import { type StepContext, reportAt } from './step-context.ts'
import { stepHash } from './step-hash.ts'
import { stepOf } from './step-of.ts'
import { Variables } from './variables.ts'
import { asksYesOrNo } from './yes-or-no.ts'

/** The branch that an `Otherwise` could still belong to. */
interface OpenBranch {
  readonly arms: Arm[]
  readonly word: 'if' | 'when'
  /** How many `If`s stand one after the other up to it. */
  readonly ifs: number
}

/** Reads the bullets of one list. */
export function readSteps(items: readonly MarkdownItem[], prefix: string, context: StepContext): Step[] {
  const steps: Step[] = []
  let open: OpenBranch | null = null
  let ended = false
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!
    const bullet = bulletOf(item, `${prefix}${index + 1}`, items[index + 1])
    if (bullet.text === '') continue
    reportLostDash(item, bullet, context)
    if (bullet.id.length > longestId) {
      tooDeep(bullet, context)
      continue
    }
    if (ended) {
      reportAt(bullet, 0, bullet.text.length, context).warn(
        'unreachable_step',
        `${quote(bullet.text)} is never reached`,
        'the step before it ends the list',
      )
      ended = false
    }
    const head = bullet.text.length > longestForm ? null : branchHead(bullet, context)
    if (head !== null) {
      const continues =
        open !== null &&
        (head.word === 'else' || head.word === 'else if' || (head.word === 'when' && open.word === 'when'))
      if (!continues && (head.word === 'else' || head.word === 'else if')) {
        reportAt(bullet, 0, bullet.text.length, context).error(
          'stray_children',
          `${quote(bullet.text)} follows no \`If\``,
          'put it right behind the branch it belongs to',
        )
        armsOf(bullet, head, context)
        continue
      }
      if (open !== null && continues) {
        if (head.word === 'else' && open.word === 'if' && open.ifs > 1)
          warnOtherwise(bullet, open.arms[0]!, context)
        open.arms.push(...armsOf(bullet, head, context))
        if (head.word === 'else' || head.otherwise !== null) open = null
        continue
      }
      const arms = armsOf(bullet, head, context)
      steps.push({ id: bullet.id, text: bullet.text, line: bullet.line, kind: 'if', arms })
      open = head.otherwise === null ? openBranch(head.word === 'when' ? 'when' : 'if', arms, open) : null
      continue
    }
    open = null
    const confirming = confirmForm(bullet, context)
    if (confirming !== null) {
      steps.push(...confirming)
      if (confirming.length === 1) noteQuestion(bullet, context)
      if (itemsOf(bullet).length > 0) withContent(nothing, bullet, context)
      continue
    }
    const body = readBullet(bullet, context)
    if (body.kind === 'wait' && asksYesOrNo(bullet.text)) noteQuestion(bullet, context)
    // A misspelled `If` has its `Otherwise` all the same; one error for one mistake.
    if (body === nothing) open = openBranch('if', [], null)
    const step = stepOf(bullet, body)
    steps.push(step)
    ended =
      step.kind === 'return' ||
      step.kind === 'answer' ||
      step.kind === 'end' ||
      step.kind === 'break' ||
      step.kind === 'continue'
  }
  // A list that grew has room for many more; a copy has not, and most lists are short.
  return [...steps]
}

function openBranch(word: OpenBranch['word'], arms: Arm[], before: OpenBranch | null): OpenBranch {
  return { arms, word, ifs: word === 'if' && before?.word === 'if' ? before.ifs + 1 : 1 }
}

const openingLine =
  /[^\s.!?,;:]\n\s*(Otherwise|Else|Else if|If|While|Until|For each|Repeat|Return|End program|Stop|Break)\b/

/** A line that begins like a step and has no dash goes on with the bullet above it, which nobody means. */
function reportLostDash(item: MarkdownItem, bullet: Bullet, context: StepContext): void {
  const found = (bullet.holds & holds.lineFeed) === 0 ? null : openingLine.exec(item.text.text)
  if (found === null) return
  const start = found.index + found[0].length - found[1]!.length
  reportAt(bullet, start, start + found[1]!.length, context).error(
    'irregular_form',
    `\`${found[1]!}\` begins a line without a dash, so it belongs to the bullet above it`,
    'begin the line with `- `, or join it to the line above',
  )
}

/** The name of a step has 128 characters at most, and a branch on one line adds some to that of its bullet. */
const longestId = 122

function tooDeep(bullet: Bullet, context: StepContext): void {
  reportAt(bullet, 0, bullet.text.length, context).error(
    'too_deep',
    `the place of the step, ${quote(bullet.id)}, has ${bullet.id.length} characters, and ${longestId} is the most`,
    'nest fewer bullets, move some into a playbook of their own, or give the playbook a shorter name',
  )
}

function warnOtherwise(bullet: Bullet, first: Arm, context: StepContext): void {
  reportAt(bullet, 0, bullet.text.length, context).warn(
    'ambiguous_otherwise',
    `several \`If\`s stand before ${quote(bullet.text)}; it belongs to the last one, ${quote(first.text)}`,
    'write `Else if` where only one of them should happen',
  )
}

/** The arms that one bullet opens: two where what is done otherwise stands on the same line. */
function armsOf(bullet: Bullet, head: BranchHead, context: StepContext): Arm[] {
  const { otherwise } = head
  if (otherwise === null) return [armOf(bullet, head, context)]
  const first = { ...bullet, text: bullet.text.slice(0, otherwise.end) }
  const rest = partOf(bullet, otherwise.next, `${bullet.id}.2`)
  const arm = armOf(first, { ...head, otherwise: null }, context)
  if (branchHead(rest, context) !== null) {
    reportAt(rest, 0, rest.text.length, context).error(
      'stray_children',
      `${quote(rest.text)} opens another branch on the same line`,
      'write each branch on a line of its own',
    )
  }
  const steps = inlineSteps({ ...rest, id: `${rest.id}.1` }, context)
  return [arm, { id: rest.id, text: rest.text, line: rest.line, condition: null, steps }]
}

function armOf(bullet: Bullet, head: BranchHead, context: StepContext): Arm {
  const condition = head.condition(context)
  const inside =
    head.inline === null
      ? readSteps(itemsOf(bullet), `${bullet.id}.`, context)
      : [
          ...inlineSteps(partOf(bullet, head.inline, `${bullet.id}.1`), context),
          ...readInlineChildren(bullet, context),
        ]
  if (inside.length === 0) {
    reportAt(bullet, 0, bullet.text.length, context).error(
      'no_effect',
      `nothing stands below ${quote(bullet.text)}, so what follows happens in any case`,
      'indent the steps of the branch below it, by two spaces or more',
    )
  }
  return { id: bullet.id, text: bullet.text, line: bullet.line, condition, steps: inside }
}

/** `Otherwise, tell the user:` with bullets below: they belong to the branch. */
function readInlineChildren(bullet: Bullet, context: StepContext): Step[] {
  const items = itemsOf(bullet)
  if (items.length === 0) return []
  reportAt(bullet, 0, bullet.text.length, context).error(
    'stray_children',
    `${quote(bullet.text)} has a step on its line and steps below it`,
    'move all of them below it',
  )
  return []
}

function inlineSteps(bullet: Bullet, context: StepContext): Step[] {
  return confirmForm(bullet, context) ?? [stepOf(bullet, readLeaf(bullet, context))]
}

function readBullet(bullet: Bullet, context: StepContext): StepBody {
  const loop = bullet.text.length > longestForm ? null : loopHead(bullet, context)
  if (loop !== null) {
    const answered = context.answered === true || looksAtAnswer(bullet.text)
    const steps = readSteps(itemsOf(bullet), `${bullet.id}.`, { ...context, inLoop: true, answered })
    if (steps.length === 0) {
      reportAt(bullet, 0, bullet.text.length, context).warn(
        'no_effect',
        `nothing stands below ${quote(bullet.text)}`,
        'indent the steps of the loop below it',
      )
    }
    return loop(steps)
  }
  const body = readLeaf(bullet, context)
  if (itemsOf(bullet).length === 0) return body
  if (body !== nothing) return withContent(body, bullet, context)
  // What stands below a misspelled word is not to blame for it, and may have mistakes of its own.
  readSteps(itemsOf(bullet), `${bullet.id}.`, { ...context, inLoop: true })
  return body
}

function readLeaf(bullet: Bullet, context: StepContext): StepBody {
  if (bullet.text.length > longestForm) {
    reportAt(bullet, 0, 80, context).error(
      'irregular_form',
      `a bullet of ${bullet.text.length} characters is too long to be read as a step; ${longestForm} is the most`,
      'say it in several bullets',
    )
    return nothing
  }
  const resolved = resolution(bullet, context)
  return (
    resolved ??
    guardForm(bullet, context) ??
    endingForm(bullet, context) ??
    assignmentForm(bullet, context) ??
    callForm(bullet, context) ??
    callInWords(bullet, context) ??
    spoken(bullet, context) ??
    extractionForm(bullet, context) ??
    unrecognised(bullet, context)
  )
}

function unrecognised(bullet: Bullet, context: StepContext): StepBody {
  return nearForm(bullet, context) ? nothing : actForm(bullet, context)
}

/** What is said or asked. Words that a model writes do nothing else, so nothing else may stand among them. */
function spoken(bullet: Bullet, context: StepContext): StepBody | null {
  const body = speechForm(bullet, context)
  if (body === null || !('words' in body)) return body
  if (body.kind === 'ask' && body.targets.length === 0 && asksYesOrNo(bullet.text))
    noteQuestion(bullet, context)
  if (body.words?.kind !== 'written') return body
  if (lostEnding(bullet, context) || lostCall(bullet, context)) return nothing
  const keeps = body.kind === 'ask' && body.targets.length > 0
  if (!keeps && (goesOn(bullet) || (body.kind === 'say' && wantsAgreement(bullet))))
    noteProse(bullet, 'speech', context)
  if (body.kind === 'ask') noteLooseGuard(bullet, 'ask', context)
  else warnIfSpokenCall(bullet, context)
  return body
}

/** Stands in for a bullet that has an error; a program with one is not returned. */
const nothing: StepBody = {
  kind: 'act',
  instruction: '',
  targets: [],
  reads: [],
  tools: [],
  reach: 'reads only',
  maxCalls: 1,
}

/** What a lock file says the bullet means. */
function resolution(bullet: Bullet, context: StepContext): StepBody | null {
  if (context.resolutions.size === 0) return null
  const text = context.resolutions.get(stepHash(bullet.text, { playbook: context.playbook }))
  if (text === undefined) return null
  const meant: Bullet = { ...reworded(bullet, text), children: [] }
  const trial = { ...context, findings: new Findings(), uses: new Variables() }
  const body = readCall(meant, trial)
  if (body?.kind === 'call' && body.value.calls.length > 0 && !trial.findings.hasErrors) {
    context.uses.addUses(trial.uses)
    return body
  }
  reportAt(bullet, 0, bullet.text.length, context).error(
    'stale_resolution',
    `the lock file says ${quote(text)}, which is no call in this program`,
    'run `lockstep lock` again',
  )
  return null
}

/** A call in function syntax, with or without a variable for its result. */
function readCall(bullet: Bullet, context: StepContext): StepBody | null {
  return assignmentForm(bullet, context) ?? callForm(bullet, context)
}

/** Bullets below a leaf: what words are to cover, or an error. */
function withContent(body: StepBody, bullet: Bullet, context: StepContext): StepBody {
  const items = itemsOf(bullet)
  const speech = body.kind === 'say' || body.kind === 'ask'
  const written = speech && body.words?.kind === 'written' ? body.words : null
  if (written !== null && items.every((item) => isContent(item, context))) {
    reportAt(bullet, 0, bullet.text.length, context).warn(
      'content_bullets',
      `the bullets below ${quote(bullet.text)} are read as what it is to say`,
      'put it on one line if they are no steps',
    )
    const instruction = [
      written.instruction,
      ...items.map((item) => `- ${item.text.text.replaceAll('\n', ' ')}`),
    ].join('\n')
    return { ...body, words: { ...written, instruction } } as StepBody
  }
  const content = items.every((item) => isContent(item, context))
  reportAt(bullet, 0, bullet.text.length, context).error(
    'stray_children',
    content
      ? `${quote(bullet.text)} opens no branch and no loop, and what stands below it looks like content, not like steps`
      : `${quote(bullet.text)} opens no branch and no loop, so the steps below it would never run`,
    content
      ? 'put the content on the line itself'
      : 'write `If …`, `While …` or `For each …` above them, or move them out',
  )
  return body
}

function isContent(item: MarkdownItem, context: StepContext): boolean {
  if (item.children.some((child) => child.kind === 'item')) return false
  const bullet = bulletOf(item, '')
  return context.findings.quietly(() => {
    if (branchHead(bullet, context) !== null || loopHead(bullet, context) !== null) return false
    const trial = { ...context, uses: new Variables(), unresolved: [], guards: [] }
    return readLeaf(bullet, trial).kind === 'act'
  })
}

function itemsOf({ children }: Bullet): readonly MarkdownItem[] {
  // Nearly always there is nothing else, and then no list of them is needed.
  return children.every((child) => child.kind === 'item')
    ? children
    : children.filter((child) => child.kind === 'item')
}
