import { digest } from '../shared/digest.ts'

/** The name of an approval, made of the run and the call it is for: `a_` and eight hexadecimal digits. */
export function approvalId(run: string, callId: string): string {
  return `a_${digest(`${run}/${callId}`).slice('sha256:'.length, 'sha256:'.length + 8)}`
}
