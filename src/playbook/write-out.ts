import { type Json, isJsonObject } from '../shared/json.ts'

/**
 * Writes the resolved forms that a PlaybookStep holds back the way an author writes them, so that a step can be
 * copied with `{ ...step, hints: [] }`. Anything else is left as it is, for the checks to judge.
 */
export function writeOutStep(step: Json): Json {
  if (!isJsonObject(step)) return step
  const { after, completeWhen } = step
  return {
    ...step,
    ...(isJsonObject(after) && 'kind' in after ? { after: writeOutAfter(after) } : {}),
    ...(isJsonObject(completeWhen) && 'expression' in completeWhen
      ? { completeWhen: completeWhen['expression']! }
      : {}),
  }
}

/** Does the same for every step of a playbook. */
export function writeOutPlaybook(playbook: Json): Json {
  if (!isJsonObject(playbook) || !Array.isArray(playbook['steps'])) return playbook
  return { ...playbook, steps: playbook['steps'].map(writeOutStep) }
}

function writeOutAfter(after: Json): Json {
  if (!isJsonObject(after)) return after
  const { kind, id, of } = after
  if (kind === 'step' && typeof id === 'string') return id
  if ((kind === 'all' || kind === 'any') && Array.isArray(of)) return { [kind]: of.map(writeOutAfter) }
  return after
}
