import type {
  Call,
  Computation,
  Condition,
  NoteRule,
  Program,
  Step,
  Target,
  Trigger,
  Words,
} from '../../src/playbook/program.ts'

/** A program in few lines, for cases that say what a text is read as. */
export function printProgram(program: Program): string {
  const lines: string[] = []
  for (const agent of program.agents) {
    lines.push(
      `agent ${agent.name}${agent.kind === 'human' ? ' (human)' : ''}${description(agent.description)}`,
    )
    for (const each of agent.playbooks) {
      const parameters = each.parameters.map(
        ({ name, type, ...rest }) =>
          `${name}${type === 'any' ? '' : `: ${type}`}${'default' in rest ? ` = ${JSON.stringify(rest.default)}` : ''}`,
      )
      const returns = each.returns === null ? '' : ` -> ${each.returns}`
      lines.push(
        `${each.mode}${each.public ? ' public' : ''} ${each.id}(${parameters.join(', ')})${returns}${description(each.description)}`,
      )
      for (const trigger of each.triggers) lines.push(`  trigger ${printTrigger(trigger)}`)
      for (const step of each.steps) printStep(step, '  ', lines)
      for (const note of each.notes)
        lines.push(`  note ${note.rule === null ? 'advice' : printRule(note.rule)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function description(computation: Computation): string {
  return computation.source === '' ? '' : ` | ${printComputation(computation)}`
}

function printTrigger(trigger: Trigger): string {
  switch (trigger.kind) {
    case 'begin':
    case 'end':
    case 'message':
      return trigger.kind
    case 'time':
      return `after ${trigger.seconds} s`
    case 'state':
      return `state ${printComputation(trigger.value)} [${trigger.reads.join(' ')}]`
    case 'before':
    case 'after':
    case 'fails':
      return `${trigger.kind} ${nameOf(trigger.call)}`
  }
}

function printRule({ before, require }: NoteRule): string {
  const what =
    require.kind !== 'holds'
      ? `${require.kind} ${nameOf(require.call)}`
      : `holds ${printCondition(require.condition)}`
  return `before ${nameOf(before)}: ${what}`
}

function printStep(step: Step, indent: string, lines: string[]): void {
  const number = step.id.slice(step.id.indexOf('/') + 1)
  if (step.kind === 'if') {
    for (const arm of step.arms) {
      const own = arm.id.slice(arm.id.indexOf('/') + 1)
      const word =
        arm.condition === null
          ? 'else'
          : arm === step.arms[0]
            ? `if ${printCondition(arm.condition)}`
            : `else if ${printCondition(arm.condition)}`
      lines.push(`${indent}${own} ${word}`)
      for (const each of arm.steps) printStep(each, `${indent}  `, lines)
    }
    return
  }
  lines.push(`${indent}${number} ${printBody(step)}`)
  if (step.kind === 'loop' || step.kind === 'each')
    for (const each of step.steps) printStep(each, `${indent}  `, lines)
}

function printBody(step: Exclude<Step, { kind: 'if' }>): string {
  switch (step.kind) {
    case 'set':
      return `set ${printTarget(step.target)} = ${printComputation(step.value)}`
    case 'call':
      return `call ${step.target === null ? '' : `${printTarget(step.target)} = `}${printComputation(step.value)}`
    case 'extract':
      return `extract ${step.targets.map(printTarget).join(', ')} from [${step.from.join(' ')}]`
    case 'say':
      return `say ${printWords(step.words)}`
    case 'ask': {
      const words = step.words === null ? 'by name' : printWords(step.words)
      const until = step.until === null ? '' : ` until ${printCondition(step.until)}`
      return `ask ${words} -> [${step.targets.map(printTarget).join(', ')}]${until}, ${step.maxTurns} turns`
    }
    case 'loop':
      return `${step.form} ${printCondition(step.condition)}, ${step.maxTurns} turns`
    case 'each':
      return `each ${printTarget(step.item)} in ${printComputation(step.over)}`
    case 'require':
      return `require ${printCondition(step.condition)}`
    case 'end':
      return step.reason === undefined ? 'end' : `end because ${step.reason}`
    case 'return':
      return `return${step.value === null ? '' : ` ${printComputation(step.value)}`}`
    case 'answer':
      return `answer [${step.reads.join(' ')}]`
    case 'wait':
      return step.for.kind === 'message' ? 'wait for a message' : `wait ${step.for.seconds} s`
    case 'act':
      return `act -> [${step.targets.map(printTarget).join(', ')}] reads [${step.reads.join(' ')}] tools [${step.tools.join(' ')}] ${step.reach}`
    default:
      return step.kind
  }
}

function printTarget({ name, scope, type }: Target): string {
  return `${scope === 'state' ? '$' : ''}${name}${type === 'any' ? '' : `: ${type}`}`
}

function printWords(words: Words): string {
  return words.kind === 'literal' ? printComputation(words.value) : `as instructed [${words.reads.join(' ')}]`
}

function printCondition(condition: Condition): string {
  return condition.kind === 'computed'
    ? printComputation(condition.value)
    : `${condition.known === undefined ? '' : `${printComputation(condition.known.value)} ${condition.known.operator} `}judged ${JSON.stringify(condition.text)} [${condition.reads.join(' ')}]`
}

function printComputation({ form, source, calls }: Computation): string {
  const text = form === 'template' ? JSON.stringify(source) : source
  return calls.length === 0
    ? text
    : `${text} where ${calls.map((call, at) => `call_${at + 1} = ${printCall(call)}`).join(', ')}`
}

function printCall({ target, positional, named }: Call): string {
  return `${nameOf(target)}(${[...positional, ...Object.entries(named).map(([name, value]) => `${name}=${value}`)].join(', ')})`
}

function nameOf(target: Call['target']): string {
  return target.kind === 'tool' ? `tool ${target.name}` : target.id
}
