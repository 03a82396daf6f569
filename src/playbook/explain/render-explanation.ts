import { escapeControl } from '../../shared/escape-control.ts'
import { drawFlow, flowLegend } from './draw-flow.ts'
import { needOfRow } from './explain-program.ts'
import type { ExplainedPlaybook, ExplainedStep, Explanation, Mark } from './explanation.ts'
import { phraseModelCalls } from './phrase-model-calls.ts'
import { padTo, wrapTo } from './text-width.ts'

/** How an explanation is shown. */
export interface RenderOptions {
  /** How to try the playbook: `npx lockstep run refund.md --model me`. */
  readonly command?: string
  readonly width?: number
  /** Colours a mark; by default it stays as it is. */
  readonly paint?: (mark: Mark, text: string) => string
}

/** One line of the readback, before it is laid out. */
interface Row {
  readonly indent: string
  readonly sentence: string
  readonly mark: Mark
  readonly rest: string
}

/** The explanation for people. Nothing from a playbook reaches a terminal unescaped. */
export function renderExplanation(explanation: Explanation, options: RenderOptions = {}): string {
  const width = Math.max(60, options.width ?? 100)
  const paint = options.paint ?? ((_mark, text) => text)
  const { playbooks } = explanation
  const lines: string[] = []
  const titled = playbooks.length > 1
  for (const playbook of playbooks) {
    if (lines.length > 0) lines.push('')
    if (titled || playbook.steps.length === 0) lines.push(headingOf(playbook))
    lines.push(...renderRows(rowsOf(playbook.steps), width, paint))
  }
  lines.push(...renderTotal(explanation, options.command))
  lines.push(...section('Notes', playbooks.flatMap(renderNotes), width))
  lines.push(...section('Triggers', playbooks.flatMap(renderTriggers), width))
  lines.push('', ...phraseModelCalls(explanation.modelCalls))
  lines.push('', 'Flow')
  for (const playbook of playbooks) {
    for (const line of drawFlow(playbook, { width: width - 2 })) lines.push(`  ${escapeControl(line)}`)
  }
  lines.push(`  ${flowLegend}`)
  return `${lines.join('\n')}\n`
}

function headingOf({ agent, heading, entry, triggers }: ExplainedPlaybook): string {
  const name = agent === null ? heading : `${agent}: ${heading}`
  const start = entry ? ' · begins the run' : triggers.length > 0 ? ' · begins by itself, see Triggers' : ''
  return escapeControl(name + start)
}

function rowsOf(steps: readonly ExplainedStep[], indent = ''): readonly Row[] {
  return steps.flatMap((step): readonly Row[] => {
    const row = {
      indent,
      sentence: `${step.number} ${sentenceOf(step)}`,
      mark: markOf(step),
      rest: restOf(step),
    }
    return step.inline ? [row] : [row, ...rowsOf(step.steps, `${indent}  `)]
  })
}

/** The sentence of a line: with what stands on it inline. */
function sentenceOf(step: ExplainedStep): string {
  if (!step.inline) return step.sentence
  const inside = step.steps.map((each) => {
    const sentence = sentenceOf(each).replace(/\.$/, '')
    return sentence.charAt(0).toLowerCase() + sentence.slice(1)
  })
  return `${step.sentence.replace(/:$/, ',')} ${inside.join('; then ')}.`
}

function markOf(step: ExplainedStep): Mark {
  const marks = step.inline ? [step.mark, ...step.steps.map(markOf)] : [step.mark]
  if (marks.includes('left to the model')) return 'left to the model'
  return marks.includes('asks a person') ? 'asks a person' : 'guaranteed'
}

function restOf(step: ExplainedStep): string {
  const rows = step.inline ? [step, ...step.steps] : [step]
  const tools = [...new Set(rows.flatMap((row) => row.tools.map((tool) => withRisk(tool, row))))]
  const names = [...new Set(rows.flatMap(({ writes = [] }) => writes))]
  const sets = names.length === 0 ? '' : ` · sets ${names.map((name) => `$${name}`).join(', ')}`
  const onlyReads = rows.some(({ reach, shape }) => reach === 'reads only' && shape === 'model')
  if (tools.length > 0) return `${sets} · ${onlyReads ? 'only if it reads: ' : ''}${tools.join(', ')}`
  if (rows.some(({ shape }) => shape === 'model')) return `${sets} · no tools`
  if (step.shape === 'ask' && step.needsModel === 'always') return ' · in the words of the model'
  return ''
}

function withRisk(tool: string, { risks = {} }: ExplainedStep): string {
  return Object.hasOwn(risks, tool) ? `${tool} (${risks[tool]})` : tool
}

function renderRows(
  rows: readonly Row[],
  width: number,
  paint: (mark: Mark, text: string) => string,
): string[] {
  const marks = Math.max(...rows.map(({ mark }) => mark.length), 0)
  const longest = Math.max(...rows.map(({ indent, sentence }) => [...indent, ...sentence].length), 0)
  const column = Math.min(longest, width - marks - 14)
  return rows.flatMap(({ indent, sentence, mark, rest }) => {
    const [first = '', ...more] = wrapTo(escapeControl(sentence), Math.max(20, column - indent.length))
    const head = ` ${padTo(indent + first, column)}  ${paint(mark, mark)}${escapeControl(rest)}`
    const number = sentence.indexOf(' ') + 1
    return [head, ...more.map((line) => ` ${indent}${' '.repeat(number)}${line}`)]
  })
}

function renderTotal({ steps, playbooks }: Explanation, command: string | undefined): string[] {
  const { total, withoutModel } = steps
  const noun = `step${total === 1 ? '' : 's'}`
  const counted =
    total === 0
      ? 'There are no steps.'
      : withoutModel === total
        ? `${total === 1 ? 'The step needs' : `All ${total} ${noun} need`} no model.`
        : `${withoutModel} of ${total} ${noun} need no model.`
  const lines = [command === undefined ? counted : `${counted} Try it yourself, no key:`]
  if (command !== undefined) lines.push(`  ${escapeControl(command)}`)
  if (playbooks.some((playbook) => playbook.steps.some(readsAnswers)))
    lines.push('An answer that is more than the plain value asked for is read by a model.')
  return lines
}

function readsAnswers(step: ExplainedStep): boolean {
  return needOfRow(step) === 'sometimes' || step.steps.some(readsAnswers)
}

function renderNotes({ notes }: ExplainedPlaybook): Entry[] {
  return notes.map(({ kind, text, rule }) => ({
    head: kind,
    text: rule === null ? text : `${text} (${rule})`,
  }))
}

function renderTriggers({ heading, triggers }: ExplainedPlaybook): Entry[] {
  return triggers.map(({ text, fires }) => ({
    head: heading.replace(/\(.*$/s, ''),
    text: `"${text}": ${fires}`,
  }))
}

/** A line of a section: what it is about, and what is said. */
interface Entry {
  readonly head: string
  readonly text: string
}

function section(title: string, entries: readonly Entry[], width: number): string[] {
  if (entries.length === 0) return []
  const column = Math.min(30, Math.max(...entries.map(({ head }) => [...head].length)))
  const lines = entries.flatMap(({ head, text }) => {
    const [first = '', ...more] = wrapTo(escapeControl(text), Math.max(30, width - column - 4))
    const cut = [...escapeControl(head)].slice(0, column).join('')
    return [`  ${padTo(cut, column)}  ${first}`, ...more.map((line) => `  ${' '.repeat(column)}  ${line}`)]
  })
  return ['', title, ...lines]
}
