/** Which evidence completes a step. A number is how many of the step's tools must have succeeded. */
export type CompleteWhen = 'all' | 'any' | 'declared' | number | { readonly expression: string }

/** Reads what a file says: three words mean themselves, any other text is a condition. */
export function resolveCompleteWhen(given: string | number): CompleteWhen {
  if (given === 'all' || given === 'any' || given === 'declared' || typeof given === 'number') return given
  return { expression: given }
}

/** How a file says it. */
export function completeWhenToFile(completeWhen: CompleteWhen): string | number {
  return typeof completeWhen === 'object' ? completeWhen.expression : completeWhen
}
