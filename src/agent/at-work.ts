import { LockstepError } from '../shared/lockstep-error.ts'

/** The runs that this process is at work on, and how often: names that people give need not be their own. */
const atWork = new Map<string, number>()

/**
 * Throws `run_in_progress` if this process is at work on a run of that name: taken up twice, its open calls would be made twice. Of two
 * processes only a journal that both write to lets one go on.
 */
export function refuseSecond(run: string): void {
  if (!atWork.has(run)) return
  throw new LockstepError('run_in_progress', `Run ${run} is at work in this process.`, {
    consequence: 'pause',
    hint: 'Wait until it has ended or was put down, then take it up.',
  })
}

/** Does the work of a run, known as at work until it is over. */
export async function atWorkOn<Value>(run: string, work: () => Promise<Value>): Promise<Value> {
  atWork.set(run, (atWork.get(run) ?? 0) + 1)
  try {
    return await work()
  } finally {
    const others = atWork.get(run)! - 1
    if (others === 0) atWork.delete(run)
    else atWork.set(run, others)
  }
}
