import type { DocumentPath } from '../document/diagnostic.ts'
import type { ExpressionReference } from '../expression/compile-expression.ts'
import type { ExpressionError, SourceRange } from '../expression/expression-error.ts'
import { type CheckContext, callTools, closedTools } from './check-context.ts'
import type { StepDraft } from './playbook-draft.ts'
import { type StepOrder, stepOrder } from './step-order.ts'

/** The names that conditions and templates may use; null where that is not known. */
export type Names = {
  readonly inputs: readonly string[] | null
  readonly secrets: readonly string[] | null
  /** The positions of the steps. */
  readonly steps: ReadonlyMap<string, number> | null
  readonly order: StepOrder | null
  readonly tools: ReadonlySet<string> | null
}

/** A condition or template of the playbook: where it stands, its text, and the step before which what it reads must have come. */
export type Reader = {
  readonly path: DocumentPath
  readonly source: string
  readonly step: StepDraft | null
  /** What of other steps must be known by then: all that is read of them, what calls gave, or nothing. */
  readonly needs: 'all' | 'output' | 'nothing'
}

const stepMembers = ['status', 'result', 'calls', 'output']

/** The names of a playbook as far as they could be read. */
export function knownNames(context: CheckContext): Names {
  const { draft, alone, tools } = context
  const idsKnown = !alone && !draft.broken('steps') && draft.steps.every((step) => !step.broken('id'))
  const expected = draft.steps.flatMap((step) => [...step.expected_tools, ...callTools(step)])
  return {
    inputs: alone || draft.broken('inputs') ? null : Object.keys(draft.inputs),
    secrets: alone || draft.broken('secrets') ? null : Object.keys(draft.secrets),
    steps: idsKnown ? new Map(draft.steps.map((step) => [step.id, step.index] as const).toReversed()) : null,
    order: idsKnown ? stepOrder(draft) : null,
    tools: closedTools(context) ?? (tools === null ? null : new Set([...tools, ...expected])),
  }
}

/** Reports why a condition or template cannot be read; what is likely meant, in the words of a playbook. */
export function reportErrors(
  errors: readonly ExpressionError[],
  reader: Reader,
  names: Names,
  context: CheckContext,
  suggestion: string | null = null,
): void {
  const { report, wording } = context
  const owner = wording.place(reader.path)
  const told = new Set<number>()
  for (const error of errors) {
    const range = { start: error.start, end: error.end }
    const misread = misreadStep(reader.source, range, names)
    if (misread !== null) {
      if (!told.has(misread.start)) reportMisread(misread, reader, context)
      told.add(misread.start)
    } else if (error.code === 'unknown_name' && reader.source.slice(error.start, error.end) === 'secrets') {
      report('misplaced_secret', reader.path, `${owner} uses a secret where none may stand`, {
        range,
        suggestion: `a secret is the whole of one text below ${wording.key('input')} of a call, of its ${wording.key('verify')} or its ${wording.key('compensate')}: "{secrets.NAME}", with nothing around it`,
      })
    } else {
      const advised = error.message.includes('did you mean')
      report('invalid_expression', reader.path, `${owner}: ${error.message}`, {
        range,
        suggestion: advised ? null : suggestion,
      })
    }
  }
}

/** Reports inputs and steps that do not exist, what steps do not have, and what cannot be known when it is read. */
export function checkReferences(
  references: readonly ExpressionReference[],
  reader: Reader,
  names: Names,
  context: CheckContext,
): void {
  const { report, wording, didYouMean } = context
  const owner = wording.place(reader.path)
  for (const { name, path, start, end } of references) {
    const [first, second] = path
    const range = { start, end }
    if ((name === 'item' || name === 'index') && reader.step?.foreach === null) {
      const message = `${owner} uses \`${name}\`, which there is only with ${wording.key('foreach')}`
      report('invalid_expression', reader.path, message, { range })
    }
    if (first === undefined) continue
    if (name === 'inputs' && names.inputs !== null && !names.inputs.includes(first)) {
      const message = `${owner} uses the input \`${first}\`, which does not exist`
      report('unknown_input', reader.path, message, { range, ...didYouMean(first, names.inputs) })
    }
    if (name !== 'steps') continue
    if (names.steps !== null && !names.steps.has(first)) {
      const misread = misreadStep(reader.source, range, names)
      if (misread !== null) {
        reportMisread(misread, reader, context)
        continue
      }
      const message = `${owner} uses the step \`${first}\`, which does not exist`
      report('unknown_step', reader.path, message, { range, ...didYouMean(first, names.steps.keys()) })
    } else if (second !== undefined && !stepMembers.includes(second)) {
      const message = `${owner}: a step has ${stepMembers.map((member) => `\`${member}\``).join(', ')}, not \`${second}\``
      report('invalid_expression', reader.path, message, { range, ...didYouMean(second, stepMembers) })
    } else if (names.steps !== null) {
      checkStepRead(names.steps.get(first)!, second, range, reader, names, context)
    }
  }
}

/** What a call gave is known of calls alone, and only of those that came before. */
function checkStepRead(
  index: number,
  member: string | undefined,
  range: SourceRange,
  reader: Reader,
  names: Names,
  { draft, report, wording }: CheckContext,
): void {
  const read = draft.steps[index]!
  const owner = wording.place(reader.path)
  if (member === 'output' && read.tool === null && !read.broken('tool')) {
    const message = `${owner} reads the \`output\` of ${wording.step(index)}, which is no call: a model works on it`
    report('invalid_expression', reader.path, message, {
      range,
      suggestion: `its last result is \`${readOf(read.id)}.result\``,
    })
    return
  }
  const { step, needs } = reader
  if (step === null || needs === 'nothing' || (needs === 'output' && member !== 'output')) return
  if (index === step.index) {
    report('wrong_order', reader.path, `${owner} reads what its own step will give, which is not known yet`, {
      range,
      suggestion:
        reader.path.includes('compensate') || reader.path.includes('verify')
          ? 'what the call gave is `output`'
          : 'a step can read the steps before it',
    })
  } else if (names.order !== null && !names.order(index, step.index)) {
    const message = `${owner} reads ${wording.step(index)}, which does not come before ${wording.step(step.index)}`
    const place =
      index > step.index
        ? `move ${wording.step(index)} up`
        : `let this step come after ${wording.step(index)}`
    report('wrong_order', reader.path, message, {
      range,
      suggestion: `${place}, or say so with ${wording.key('after')}`,
    })
  }
}

/** How an expression reads a step. */
function readOf(id: string): string {
  return isPlain(id) ? `steps.${id}` : `steps["${id}"]`
}

function isPlain(id: string): boolean {
  return /^[A-Za-z_]\w*$/.test(id)
}

type Misread = SourceRange & { readonly id: string; readonly instead: string }

/** The step that was meant where its id, written like a member, is read as something else: `steps.drain-node` as a subtraction. */
function misreadStep(source: string, { start, end }: SourceRange, { steps }: Names): Misread | null {
  if (steps === null) return null
  const reads = /\bsteps\.([A-Za-z0-9_./-]{1,200})/g
  // What is wrong begins inside what was meant, so there is no need to look at all before it.
  reads.lastIndex = Math.max(0, start - 206)
  for (let found = reads.exec(source); found !== null; found = reads.exec(source)) {
    const [whole, rest = ''] = found
    if (found.index > end) return null
    if (found.index + whole.length < start) continue
    for (let length = Math.min(rest.length, 128); length > 0; length--) {
      const id = rest.slice(0, length)
      if (isPlain(id) || !steps.has(id) || ![undefined, '.'].includes(rest[length])) continue
      const member = /^\.(\w+)/.exec(rest.slice(length))?.[0] ?? ''
      return {
        id,
        instead: readOf(id) + member,
        start: found.index,
        end: found.index + 'steps.'.length + length,
      }
    }
  }
  return null
}

function reportMisread({ id, instead, start, end }: Misread, reader: Reader, context: CheckContext): void {
  const owner = context.wording.place(reader.path)
  const sign = /[^\w]/.exec(id)?.[0]
  const why =
    sign === '-'
      ? 'a dash is read as a minus'
      : sign === '/'
        ? 'a slash is read as a division'
        : sign === '.'
          ? 'a dot is read as a member'
          : 'a name begins with a letter'
  const message = `${owner}: \`steps.${id}\` does not mean the step \`${id}\`, since ${why}`
  context.report('invalid_expression', reader.path, message, {
    range: { start, end },
    suggestion: `write \`${instead}\``,
  })
}
