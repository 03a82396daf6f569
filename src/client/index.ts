export { createClient } from './client.ts'
export type { AnswerOf, Client, ClientOptions, RequestOf, RouteSpelling } from './client.ts'
export { ProblemError } from './problem-error.ts'
export type { Problem } from '../api/shape.ts'
