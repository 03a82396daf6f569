import { compilePolicy, type CompiledPolicy } from './compile-policy.ts'
import { policyOf } from './policy.ts'
import { policySchema } from './policy-schema.ts'

let made: CompiledPolicy | null = null

/** What holds where there is no policy: reads and writes are allowed, and what is irreversible needs approval. */
export function defaultPolicy(): CompiledPolicy {
  if (made === null) {
    const source = { id: 'lockstep.defaults', version: '1' }
    made = compilePolicy(policyOf(policySchema.parse(source), source))
  }
  return made
}
