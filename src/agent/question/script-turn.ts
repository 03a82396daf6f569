import type { Answer, Question } from '../../run/program/question.ts'
import type { Json } from '../../shared/json.ts'
import type { ScriptedTurn } from '../scripted-model.ts'

/** The turn of a script that answers these questions as they were answered: what `--record` writes of a conversation. */
export function scriptTurn(
  questions: readonly Question[],
  answers: { readonly [questionId: string]: Answer },
  usage: { readonly promptTokens: number; readonly completionTokens: number } = {
    promptTokens: 0,
    completionTokens: 0,
  },
): ScriptedTurn {
  const given = questions.flatMap(({ id }) => {
    const answer = Object.hasOwn(answers, id) ? answers[id] : undefined
    return answer === undefined ? [] : [{ id, answer }]
  })
  const { promptTokens: prompt, completionTokens: completion } = usage
  const cost = prompt + completion === 0 ? {} : { usage: { prompt, completion } }
  const once = new Set(given.map(({ answer }) => answer.kind)).size === given.length
  // By kind where that says which is meant: such a script outlives changes of the playbook.
  if (once && given.length > 0)
    return { ...Object.assign({}, ...given.map(({ answer }) => written(answer))), ...cost }
  return { answers: given.map(({ id, answer }) => ({ ...written(answer), to: id })), ...cost }
}

function written(answer: Answer): { readonly [kind: string]: Json } {
  switch (answer.kind) {
    case 'judge':
      return { judge: answer.reason === '' ? answer.value : { value: answer.value, reason: answer.reason } }
    case 'write':
      return { write: answer.text }
    case 'match':
      return { match: answer.matched }
    case 'extract':
      return {
        extract: Object.fromEntries(Object.entries(answer.values).filter(([, value]) => value !== null)),
      }
  }
}
