import { type HeldUp, refusalBehind } from '../app.ts'

/** What keeps a run from its next effect, from the error that put it down; null for any other error. */
export function heldUpBy(error: unknown): HeldUp | null {
  const refusal = refusalBehind(error)
  if (refusal === null) return null
  if (refusal.wanted.kind === 'unhalted') return { kind: 'halt', by: String(refusal.found) }
  if (refusal.wanted.kind !== 'lock') return null
  return { kind: 'target', target: refusal.wanted.key.replace(/^target:/, ''), run: String(refusal.found) }
}

/** Why the run does not go on, and what lets it. */
export function describeHeldUp(held: HeldUp, run: string): { readonly why: string; readonly next: string } {
  const resume = `npx lockstep resume ${run}`
  if (held.kind === 'halt')
    return { why: `HALTED by ${held.by}`, next: `npx lockstep unhalt --reason TEXT, then: ${resume}` }
  return {
    why: `run ${held.run} holds ${held.target}: a call of it is under way, or nobody knows its outcome`,
    next: `npx lockstep resume ${held.run} (it says what to settle), then: ${resume}`,
  }
}
