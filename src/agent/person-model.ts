import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import { isDryRunResult } from '../tool/dry-run-tool.ts'
import { readCallLine } from '../tool/read-call-line.ts'
import { answeringModel } from './answering-model.ts'
import { Interruption } from './interruption.ts'
import { openPersonTerminal, type PersonStreams, type PersonTerminal } from './person-terminal.ts'
import { questionsOf } from './question/asked-questions.ts'
import { askPerson } from './question/ask-person.ts'
import { writeAnswers } from './question/write-answers.ts'

const usage =
  'Type a call, such as lookup_order order_id=ORD-42, or your answer in quotation marks, such as "All done."'

/** A model that is the person at the terminal: every question a model would get is put to them, so no key is needed. */
export function createPersonModel(
  person: PersonStreams | PersonTerminal = { input: process.stdin, output: process.stdout },
): LanguageModelV4 {
  const terminal = 'readLine' in person ? person : openPersonTerminal(person)
  let calls = 0
  let asked = 0
  return answeringModel({ provider: 'person', modelId: 'me' }, async (options) => {
    const questions = questionsOf(options.prompt)
    if (questions !== null) {
      const open = questions.asked.map(({ question }) => question)
      const answers = await askPerson(open, questions.batch, terminal, options.abortSignal)
      return { content: [{ type: 'text', text: writeAnswers(questions, answers) }] }
    }
    const tools = (options.tools ?? []).map(describeTool).join(', ') || 'none'
    // Said once: who reads it before every line no longer sees what changes.
    terminal.write(`\n${lastMessages(options)}\nTools: ${tools}\n${asked++ === 0 ? `${usage}\n` : ''}> `)
    for (;;) {
      const line = await terminal.readLine(options.abortSignal)
      if (line === null) throw new Interruption('the input ended before the run did')
      const names = (options.tools ?? []).map(({ name }) => name)
      const part = readAnswer(line.trim(), `me-${calls + 1}`, names)
      if (typeof part !== 'string') {
        calls++
        return { content: [part] }
      }
      terminal.write(`${part}\n> `)
    }
  })
}

/** What a typed line means: an answer, a call, or (a text) what is wrong with it. */
function readAnswer(line: string, callId: string, tools: readonly string[]): LanguageModelV4Content | string {
  if (line === '') return usage
  // Who asks for help, or wants to leave, does not mean a tool.
  if (/^(?:help|\?|quit|exit)$/i.test(line) && !tools.includes(line)) return `${usage} Ctrl-C stops.`
  if (/^".*"$/s.test(line)) return { type: 'text', text: line.slice(1, -1) }
  const call = readCallLine(line)
  if (typeof call === 'string') return `${call} An answer stands in quotation marks.`
  return { type: 'tool-call', toolCallId: callId, toolName: call.tool, input: JSON.stringify(call.args) }
}

/** A tool with the names of what it takes; those it can do without stand in brackets. */
function describeTool(tool: NonNullable<LanguageModelV4CallOptions['tools']>[number]): string {
  const { properties = {}, required = [] } = tool.type === 'function' ? tool.inputSchema : {}
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `${name}=` : `[${name}=]`))
  return [tool.name, ...names].join(' ')
}

/** The end of the conversation, as far as a person needs it to go on. */
function lastMessages(options: LanguageModelV4CallOptions): string {
  const texts = options.prompt.slice(-2).flatMap((message) => {
    if (typeof message.content === 'string') return [message.content]
    return message.content.map((part) => {
      if ('text' in part) return part.text
      return part.type === 'tool-result' ? describeResult(part.output) : ''
    })
  })
  // The mark tells a model who is speaking; a person sees that.
  return texts
    .map((text) => text.replace(/^\[procedure\]\n/, ''))
    .filter((text) => text !== '')
    .join('\n')
}

/** What became of a call; of a refusal, what it says in words. */
function describeResult(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === 'execution-denied') return `refused: ${output.reason ?? 'no reason was given'}`
  const { value } = output
  if (isDryRunResult(value)) return 'result: none, because this is a dry run'
  if (output.type === 'error-json' && typeof value === 'object' && value !== null && 'message' in value) {
    return `refused: ${String(value['message'])}`
  }
  return `${output.type.startsWith('error') ? 'error' : 'result'}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
}
