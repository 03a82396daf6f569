import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { Agent } from '../../src/agent/agent.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { answeringModel, type Answer } from '../../src/agent/answering-model.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'
import { tool, type Risk, type Tool, type ToolContext } from '../../src/tool/tool.ts'

export { playbookOf, step } from '../gate/enforce.ts'

/** What a test tool did: one line per time its body ran. */
export type Log = string[]

/** A tool that notes every time it runs, and answers with `answer` or its own name. */
export function noting(
  log: Log,
  name: string,
  risk: Risk = 'write',
  answer: (args: JsonObject, context: ToolContext) => unknown = () => ({ from: name }),
): Tool {
  return tool({
    name,
    description: `Does ${name}.`,
    risk,
    execute: (args, context) => {
      log.push(name)
      return answer(args, context)
    },
  })
}

/** Tools of these names that write, and the log of what they did. */
export function notingAll(...names: string[]): { log: Log; tools: Tool[] } {
  const log: Log = []
  return { log, tools: names.map((name) => noting(log, name)) }
}

/** A turn that calls these tools, without arguments or with them. */
export function calls(...tools: (string | [tool: string, args: JsonObject])[]): ScriptedTurn {
  return {
    calls: tools.map((each) =>
      typeof each === 'string' ? { tool: each } : { tool: each[0], arguments: { ...each[1] } },
    ),
  }
}

/** A turn that says something. */
export function says(text: string): ScriptedTurn {
  return { text }
}

/** An agent whose model says these turns. */
export function agentOf(turns: readonly ScriptedTurn[], options: Omit<AgentOptions, 'model'> = {}): Agent {
  return new Agent({ model: scriptedModel({ turns }), ...options })
}

/** What a model was asked. */
export interface Question {
  readonly system: string
  readonly tools: readonly string[]
  /** Everything but the system text, as JSON. */
  readonly conversation: string
  readonly options: LanguageModelV4CallOptions
}

/** A model that answers by the number of the question, from 1, and keeps what it was asked. */
export function watched(
  answer: (number: number, question: Question) => Answer | Promise<Answer>,
  modelId = 'watched',
): LanguageModelV4 & { readonly questions: Question[] } {
  const questions: Question[] = []
  const model = answeringModel({ provider: 'test', modelId }, async (options) => {
    const system = options.prompt.find(({ role }) => role === 'system')
    const question = {
      system: typeof system?.content === 'string' ? system.content : '',
      tools: (options.tools ?? []).map(({ name }) => name),
      conversation: JSON.stringify(options.prompt.filter(({ role }) => role !== 'system')),
      options,
    }
    questions.push(question)
    return await answer(questions.length, question)
  })
  return Object.assign(model, { questions })
}

/** An answer that calls tools. */
export function proposing(...tools: (string | [tool: string, args: JsonObject])[]): Answer {
  return {
    content: tools.map((each, index) => ({
      type: 'tool-call',
      toolCallId: `c${index + 1}`,
      toolName: typeof each === 'string' ? each : each[0],
      input: JSON.stringify(typeof each === 'string' ? {} : each[1]),
    })),
  }
}

/** An answer in words. */
export function saying(text: string, usage: { prompt?: number; completion?: number } = {}): Answer {
  return {
    content: text === '' ? [] : [{ type: 'text', text }],
    promptTokens: usage.prompt ?? 0,
    completionTokens: usage.completion ?? 0,
  }
}

/** A model that works through these answers, the last one for ever. */
export function answering(...answers: readonly Answer[]): ReturnType<typeof watched> {
  return watched((number) => answers[Math.min(number, answers.length) - 1]!)
}

/** What the model was shown as the result of the nth call in the last tool message of a question. */
export function shownResults(question: Question): Json[] {
  const messages = question.options.prompt.filter(({ role }) => role === 'tool')
  const content = messages.at(-1)?.content
  if (content === undefined || typeof content === 'string') return []
  return content.flatMap((part) => (part.type === 'tool-result' ? [part.output as unknown as Json] : []))
}
