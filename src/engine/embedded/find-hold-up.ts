import type { ChainStore } from '../../journal/chain-store.ts'
import type { Halt } from '../../journal/journal.ts'
import type { HeldUp } from '../engine.ts'
import { targetKey } from './guarded-journal.ts'
import type { Hand } from './hand.ts'
import type { Turnstile } from './turnstile.ts'

/**
 * What keeps a run from its next effect, other than runs of this engine; null if there is nothing. `forGood` leaves out what another process is at work
 * on, and claims the run that is found: for who is about to leave.
 */
export async function findHoldUp(
  run: string,
  halt: Halt | null,
  {
    hands,
    turnstile,
    store,
    forGood,
  }: {
    readonly hands: ReadonlyMap<string, Hand>
    readonly turnstile: Turnstile
    readonly store: ChainStore
    readonly forGood: boolean
  },
): Promise<HeldUp | null> {
  if (halt !== null) return { kind: 'halt', by: `${halt.by}: ${halt.reason}` }
  const refusal = hands.get(run)?.refusal ?? null
  const refused =
    refusal?.wanted.kind === 'lock'
      ? { target: refusal.wanted.key.slice(targetKey('').length), run: String(refusal.found) }
      : null
  const wanted = refused ?? turnstile.waitsFor(run)
  if (wanted === null || hands.has(wanted.run)) return null
  try {
    if (forGood) await store.claim(wanted.run)
  } catch {
    // Another process is at work on it, and will give it back.
    return null
  }
  return { kind: 'target', ...wanted }
}

/** Lets pass who waits for a target that a run of another process held and has given back. */
export async function passFreed(store: ChainStore, tenant: string, turnstile: Turnstile): Promise<void> {
  const wanted = turnstile.wantedFromOthers()
  if (wanted.length === 0) return
  const locks = await store.locks(tenant)
  const held = new Set(locks.map(({ key }) => key))
  for (const target of wanted) if (!held.has(targetKey(target))) turnstile.giveBack(target)
}
