/** What is thrown where somebody was no longer waited for. */
export class WaitAborted extends Error {
  constructor() {
    super('the run was cancelled meanwhile')
    this.name = 'WaitAborted'
  }
}

/**
 * What the work comes to, unless the signal is aborted first: then it throws WaitAborted, after so many milliseconds more. The work may not
 * listen to the signal; it is left alone, and what it comes to is lost.
 */
export async function untilAborted<Value>(
  signal: AbortSignal,
  work: () => Value | PromiseLike<Value>,
  graceMs = 0,
): Promise<Value> {
  const answer = work()
  if (typeof (answer as PromiseLike<Value> | null | undefined)?.then !== 'function') return answer
  // No controller of its own and no race: this stands around every question to a model.
  return await new Promise<Value>((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const stop = () => {
      timer = setTimeout(() => reject(new WaitAborted()), graceMs)
    }
    const over = () => {
      signal.removeEventListener('abort', stop)
      clearTimeout(timer)
    }
    const settle =
      <Given>(take: (given: Given) => void) =>
      (given: Given) => {
        over()
        take(given)
      }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    ;(answer as PromiseLike<Value>).then(settle(resolve), settle(reject))
  })
}
