import type { ExplainedPlaybook, ExplainedStep } from './explanation.ts'
import { cutTo } from './text-width.ts'

/** How wide a drawing may be. */
export interface DrawOptions {
  readonly width?: number
}

/** What the signs of a drawing mean, for those who see one for the first time. */
export const flowLegend =
  '□ happens as written  ◇ decided as written  ○ a model does it  ◈ a model decides  ? a person is asked  ↻ loop  ■ stop'

/**
 * The flow of a playbook as lines for a terminal: its bullets from top to bottom, branches and loops beside what opens them. A
 * branch that does not come back shows no way back.
 */
export function drawFlow(playbook: ExplainedPlaybook, options: DrawOptions = {}): readonly string[] {
  const width = Math.max(40, options.width ?? 100)
  const lines = [`● ${playbook.heading}`]
  drawList(playbook.steps, '', lines)
  if (goesOn(playbook.steps)) lines.push('■ done')
  return lines.map((line) => cutTo(line, width))
}

function drawList(steps: readonly ExplainedStep[], indent: string, lines: string[]): void {
  for (const step of steps) {
    const { shape, number, sentence, after } = step
    if (shape === 'otherwise') {
      drawBranch(step, `${number} otherwise`, indent, lines)
      continue
    }
    // Where the order is a graph, a line from top to bottom would say what is not so.
    const place = after === undefined ? '' : `(after ${after}) `
    lines.push(`${indent}${signOf(step)} ${number} ${place}${sentence}`)
    if (step.steps.length > 0) drawBranch(step, shape === 'loop' ? 'again' : 'yes', indent, lines)
  }
}

function drawBranch(step: ExplainedStep, label: string, indent: string, lines: string[]): void {
  const opening = `├─ ${label} ─┐`
  lines.push(indent + opening)
  drawList(step.steps, `${indent}│${' '.repeat(opening.length - 2)}`, lines)
  if (!goesOn(step.steps)) return
  lines.push(`${indent}${step.shape === 'loop' ? '↻' : '│'}◀${'─'.repeat(opening.length - 3)}┘`)
}

/** Whether the last of the steps leads on to what comes after them. */
function goesOn(steps: readonly ExplainedStep[]): boolean {
  for (let at = 0; at < steps.length;) {
    let end = at + 1
    while (steps[at]!.shape === 'decide' && steps[end]?.chained === true) end++
    const group = steps.slice(at, end)
    if (!groupGoesOn(group)) return false
    at = end
  }
  return true
}

function groupGoesOn(group: readonly ExplainedStep[]): boolean {
  const [first] = group
  if (first!.shape !== 'decide') return !['end', 'return', 'leave', 'next'].includes(first!.shape)
  return group.at(-1)!.shape !== 'otherwise' || group.some((arm) => goesOn(arm.steps))
}

function signOf({ shape, mark }: ExplainedStep): string {
  switch (shape) {
    case 'decide':
    case 'otherwise':
      return mark === 'guaranteed' ? '◇' : '◈'
    case 'loop':
      return '↻'
    case 'ask':
      return '?'
    case 'model':
      return '○'
    case 'leave':
      return '↓'
    case 'next':
      return '↑'
    case 'end':
    case 'return':
      return '■'
    case 'do':
      return '□'
  }
}
