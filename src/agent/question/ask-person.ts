import type { ValueType } from '../../playbook/program.ts'
import { plainAnswer } from '../../run/program/plain-answer.ts'
import type { Answer, Question, QuestionBatch, Slot } from '../../run/program/question.ts'
import { isJsonObject, type Json } from '../../shared/json.ts'
import { toJson } from '../../shared/to-json.ts'
import { Interruption } from '../interruption.ts'
import type { PersonTerminal } from '../person-terminal.ts'
import { isExact } from './read-answers.ts'

/**
 * Puts questions to the person at the terminal, one after the other in plain words, and asks again until an answer fits. Throws an
 * `Interruption` when the input ends, so that the run can be taken up, and the signal's reason when it is aborted.
 */
export async function askPerson(
  questions: readonly Question[],
  { variables, conversation }: Pick<QuestionBatch, 'variables' | 'conversation'>,
  terminal: PersonTerminal,
  signal?: AbortSignal,
): Promise<Map<string, Answer>> {
  const ask: Ask = async (prompt, read) => {
    for (;;) {
      terminal.write(`${prompt}${prompt === '' ? '' : ' '}> `)
      const line = await terminal.readLine(signal)
      if (line === null) throw new Interruption('the input ended before the run did')
      const reading = read(line.trim())
      if ('value' in reading) return reading.value
      terminal.write(`${reading.problem}\n`)
    }
  }
  const last = conversation.findLast(({ by }) => by === 'person')
  const known = Object.entries(variables).map(
    ([name, value]) => `  ${name} = ${brief(JSON.stringify(value))}\n`,
  )
  const said = last === undefined ? '' : `The person said: ${brief(JSON.stringify(last.text))}\n`
  terminal.write(`\n${said}${known.join('')}`)
  const answers = new Map<string, Answer>()
  for (const question of questions) {
    terminal.write(
      introduce(question)
        .map((line) => `${line}\n`)
        .join(''),
    )
    // Among other answers an empty text may be meant: nothing is to be said.
    answers.set(question.id, await answer(question, ask, questions.length > 1))
  }
  return answers
}

function introduce(question: Question): readonly string[] {
  switch (question.kind) {
    case 'judge':
      return [`Does this hold: ${question.text}`]
    case 'write':
      return [`Write: ${question.instruction}`]
    case 'match':
      return [
        'Which of these does the last message mean?',
        ...question.triggers.map((trigger, index) => `  ${index + 1}. ${trigger}`),
      ]
    case 'extract':
      return [`Read out: ${question.instruction}`]
  }
}

async function answer(question: Question, ask: Ask, mayBeEmpty: boolean): Promise<Answer> {
  switch (question.kind) {
    case 'judge':
      return { kind: 'judge', value: await ask('yes/no', readYesNo), reason: 'the person says so' }
    case 'write': {
      const prompt = mayBeEmpty ? 'Enter for nothing' : ''
      return { kind: 'write', text: await ask(prompt, (line) => readWords(line, mayBeEmpty)) }
    }
    case 'match': {
      const read = (line: string) => readNumbers(line, question.triggers.length)
      return { kind: 'match', matched: await ask('numbers, or Enter for none', read) }
    }
    case 'extract': {
      const values: [string, Json][] = []
      for (const slot of question.slots) values.push([slot.name, await askSlot(slot, ask)])
      return { kind: 'extract', values: Object.fromEntries(values) }
    }
  }
}

/** What a line means, or (a problem) why it cannot be taken. */
type Reading<Value> = { readonly value: Value } | { readonly problem: string }

/** Asks with a prompt until what is typed can be taken. */
type Ask = <Value>(prompt: string, read: (line: string) => Reading<Value>) => Promise<Value>

function readYesNo(line: string): Reading<boolean> {
  const value = plainAnswer([{ name: 'v', type: 'bool' }], line)?.['v']
  return typeof value === 'boolean' ? { value } : { problem: 'Please answer yes or no.' }
}

function readWords(line: string, mayBeEmpty: boolean): Reading<string> {
  return line === '' && !mayBeEmpty ? { problem: 'Please write at least a word.' } : { value: line }
}

function readNumbers(line: string, count: number): Reading<readonly number[]> {
  const parts = line.split(/[\s,]+/).filter((part) => part !== '')
  if (parts.some((part) => !/^\d{1,4}$/.test(part) || Number(part) < 1 || Number(part) > count)) {
    return { problem: `Please give numbers from 1 to ${count}, such as 1 or 1, 2; or nothing.` }
  }
  return { value: [...new Set(parts.map((part) => Number(part) - 1))].toSorted((a, b) => a - b) }
}

const shapes: Readonly<Record<ValueType, string>> = {
  any: 'a value',
  str: 'a text',
  int: 'a whole number, such as 42',
  float: 'a number, such as 4.5',
  bool: 'yes or no',
  list: 'a list, such as ["a", "b"]',
  dict: 'an object, such as {"a": 1}',
}

async function askSlot({ name, type }: Slot, ask: Ask): Promise<Json> {
  return await ask(`${name} = ? (${shapes[type]}; Enter if it is not known)`, (line) => {
    if (line === '') return { value: null }
    const value = readTyped(type, line)
    return value === undefined ? { problem: `That is not ${shapes[type]}.` } : { value }
  })
}

function readTyped(type: ValueType, line: string): Json | undefined {
  switch (type) {
    case 'str': {
      const quoted = readJson(line)
      return typeof quoted === 'string' ? quoted : line
    }
    case 'any':
      return readJson(line) ?? line
    case 'int':
    case 'float':
    case 'bool':
      return plainAnswer([{ name: 'v', type }], line)?.['v']
    case 'list': {
      const value = readJson(line)
      return Array.isArray(value) ? value : undefined
    }
    case 'dict': {
      const value = readJson(line)
      return isJsonObject(value) ? value : undefined
    }
  }
}

function readJson(line: string): Json | undefined {
  try {
    const reading = toJson(JSON.parse(line))
    return reading.problem === null && isExact(reading.value) ? reading.value : undefined
  } catch {
    return undefined
  }
}

function brief(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}
