import type { Program } from '../playbook/program.ts'
import type { ProgramTool } from '../playbook/markdown/callables.ts'
import type { UnresolvedStep } from '../playbook/markdown/step-context.ts'
import type { QuestionBatch } from '../run/program/question.ts'

const mostCalls = 60

/** The question of each bullet, all in one request: which call is meant, as an author would write it, or none. */
export function lockQuestions(
  steps: readonly UnresolvedStep[],
  program: Program,
  tools: readonly ProgramTool[],
  text: string,
): QuestionBatch {
  const signatures = signaturesOf(program, tools)
  const variables = [...new Set(text.match(/\$[\p{L}_][\p{L}\p{N}_]*/gu) ?? [])]
  return {
    id: 'lock',
    agent: 'You settle what bullets of a playbook mean that call something in words.',
    playbook: `The playbook:\n${text}`,
    notes: [
      'A call is written as the name and its arguments in parentheses, such as Lookup($order_id) or send_mail(to=$email).',
      'Arguments are variables, numbers or texts in quotation marks. Use only what is listed.',
      'Where the result is to be kept, write $name = in front of the call.',
      'Where none of them is clearly meant, there is no call.',
    ],
    variables: {},
    conversation: [],
    questions: steps.map(({ text: bullet, candidates }, index) => ({
      id: `step ${index + 1}`,
      kind: 'extract',
      slots: [{ name: 'call', type: 'str' }],
      instruction: [
        `Which call does this bullet mean: ${JSON.stringify(bullet)}`,
        ...(candidates.length === 0 ? [] : [`It may be: ${candidates.join(', ')}`]),
        `There are: ${signatures.join(', ')}`,
        ...(variables.length === 0 ? [] : [`Variables: ${variables.join(', ')}`]),
      ].join('\n'),
    })),
  }
}

function signaturesOf(program: Program, tools: readonly ProgramTool[]): readonly string[] {
  const playbooks = program.agents.flatMap((agent) =>
    agent.playbooks.map(({ id, parameters }) => `${id}(${parameters.map(({ name }) => name).join(', ')})`),
  )
  const all = [...playbooks, ...tools.map(({ name, parameters }) => `${name}(${parameters.join(', ')})`)]
  return all.length > mostCalls ? [...all.slice(0, mostCalls), `and ${all.length - mostCalls} more`] : all
}
