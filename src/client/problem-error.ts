import type { Problem } from '../api/shape.ts'

/** What a gateway refused, and why. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** The problem of a response that is no success; one of its own where something between answered that knows no problems. */
export async function readProblem(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => '')
  try {
    const said = JSON.parse(text) as Problem
    if (typeof said.code === 'string' && typeof said.detail === 'string') return said
  } catch {
    // Said below.
  }
  return {
    type: 'about:blank',
    title: 'Not an answer of Lockstep',
    status: response.status,
    code: 'internal',
    detail: `The server answered ${response.status} ${response.statusText}`.trim(),
    hint: null,
    requestId: response.headers.get('x-request-id') ?? '',
  }
}
