import type { DenialCode } from './denial-code.ts'

/** A broken rule as the state keeps it. */
export interface Violation {
  readonly code: DenialCode
  readonly step: string | null
  readonly tool: string
  readonly message: string
  readonly at: number
  readonly blocked: boolean
}

/** More are counted, not kept: a model that loops on refused calls must not fill the memory. */
export const violationsKept = 10_000
