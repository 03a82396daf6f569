import type { ReservationRefusal } from '../../journal/reservation-refusal.ts'
import type { RunEnd } from '../../run/event.ts'
import type { RunRest, RunWork } from '../engine.ts'
import { EngineControl } from './engine-control.ts'
import type { Turnstile } from './turnstile.ts'

/** A run that an engine has in hand. */
export interface Hand {
  readonly run: string
  readonly work: RunWork
  readonly control: EngineControl
  readonly waiters: ((rest: RunRest) => void)[]
  controller: AbortController
  sitting: Promise<void> | null
  /** Somebody acted since the sitting began: it is worth looking again. */
  stirred: boolean
  /** Somebody reads, or goes on with, its record. */
  atWork: boolean
  /** What is being written into its record from outside. */
  writing: Promise<unknown>
  ended: RunEnd | null
  reason: string | null
  /** What could not be had when it was last tried. */
  refusal: ReservationRefusal | null
  timer: NodeJS.Timeout | undefined
}

/** A run that nobody has sat down to yet. */
export function takeInHand(run: string, work: RunWork, turnstile: Turnstile): Hand {
  const hand: Hand = {
    run,
    work,
    control: new EngineControl(run, turnstile, () => hand.controller.signal),
    waiters: [],
    controller: new AbortController(),
    sitting: null,
    stirred: false,
    atWork: false,
    writing: Promise.resolve(),
    ended: null,
    reason: null,
    refusal: null,
    timer: undefined,
  }
  return hand
}
