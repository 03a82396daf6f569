import { digest } from '../../shared/digest.ts'

/** Identifies a bullet in a lock file: the same words in the same playbook have the same hash, wherever they stand. */
export function stepHash(text: string, context: { readonly playbook: string }): string {
  return digest(JSON.stringify(['lockstep step 1', context.playbook, text.replace(/\s+/g, ' ').trim()]))
}
