import type { Question } from '../../run/program/question.ts'

/** What a question is about, in the playbook's words. */
export function wordingOf(question: Question): string {
  switch (question.kind) {
    case 'judge':
      return question.text
    case 'write':
      return question.instruction
    case 'match':
      return question.triggers.join(' / ')
    case 'extract': {
      const names = question.slots.map(({ name }) => name).join(', ')
      return question.instruction === '' ? names : `${names}: ${question.instruction}`
    }
  }
}

/** A question as a message names it: its kind, its id, and how it begins. */
export function nameQuestion(question: Question): string {
  const wording = wordingOf(question).replaceAll(/\s+/g, ' ')
  return `${question.kind} ${question.id} "${wording.length > 80 ? `${wording.slice(0, 79)}…` : wording}"`
}
