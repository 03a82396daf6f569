import { createClient, ProblemError, type AnswerOf, type RouteSpelling } from '../../../src/client/index.ts'
import { chosenProject } from './chosen-project.ts'
import { UnreachableError } from './unreachable-error.ts'

let csrfToken: string | null = null

/** Keeps the token that changes are sent with; it comes with the answer to who one is. */
export function keepCsrfToken(token: string | null): void {
  csrfToken = token
}

/** Asks the gateway that served this page, as whoever is signed in, about the project that is chosen. */
export const ask = createClient({
  csrfToken: () => csrfToken,
  project: chosenProject,
  fetch: async (input, init) => {
    try {
      return await fetch(input, init)
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
      throw new UnreachableError(error)
    }
  },
})

/** What a route answers with. */
export type Answer<Spelling extends RouteSpelling> = AnswerOf<Spelling>

/** An item of what a route lists. */
export type ItemOf<Spelling extends RouteSpelling> =
  AnswerOf<Spelling> extends { items: readonly (infer Item)[] } ? Item : never

/** Whether a request failed with one of these codes. */
export function failedWith(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ProblemError && codes.includes(error.problem.code)
}

/** One sentence about what went wrong. */
export function tellError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
