import { setTimeout as sleep } from 'node:timers/promises'
import { type HeldUp, type OpenEngine, type RunRest, refusalBehind } from '../app.ts'

/** How often it is looked whether something keeps a run from going on. */
const lookMs = 250

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

/** Waits until the run rests, or something keeps it from going on that will not end by itself; who stays is told, and waits on. */
export async function untilHeldUp(
  engine: OpenEngine['engine'],
  run: string,
  resting: Promise<RunRest>,
  { stays, tell }: { readonly stays: boolean; readonly tell: (why: string) => void },
): Promise<HeldUp | null> {
  const rested = resting.then(
    () => true,
    () => true,
  )
  let told = ''
  while (!(await Promise.race([rested, sleep(lookMs, false, { ref: false })]))) {
    const held = await engine.heldUp(run, !stays)
    if (held === null) continue
    if (!stays) return held
    const { why } = describeHeldUp(held, run)
    // Who halted is told by the engine.
    if (why !== told && held.kind !== 'halt') tell(why)
    told = why
  }
  return null
}
