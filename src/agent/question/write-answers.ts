import type { Answer } from '../../run/program/question.ts'
import type { Json } from '../../shared/json.ts'
import type { AskedQuestion, AskedQuestions } from './asked-questions.ts'

/** The text in which a model gives these answers: what `readAnswers` reads. Questions without an answer are left out. */
export function writeAnswers({ asked, form }: AskedQuestions, answers: ReadonlyMap<string, Answer>): string {
  const given = asked.flatMap((each) => {
    const answer = answers.get(each.question.id)
    return answer === undefined ? [] : [[each.key, writeAnswer(each, answer)] as const]
  })
  return form === 'text' ? String(given[0]?.[1] ?? '') : JSON.stringify(Object.fromEntries(given))
}

function writeAnswer({ question, slotKeys }: AskedQuestion, answer: Answer): Json {
  switch (answer.kind) {
    case 'judge':
      return { reason: answer.reason, value: answer.value }
    case 'write':
      return answer.text
    case 'match':
      return answer.matched
    case 'extract': {
      const slots = question.kind === 'extract' ? question.slots : []
      return Object.fromEntries(
        slots.map(({ name }, index) => [slotKeys[index]!, answer.values[name] ?? null]),
      )
    }
  }
}
