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
  const over = new AbortController()
  try {
    return await Promise.race([answer, aborted(signal, over.signal, graceMs)])
  } finally {
    over.abort()
  }
}

function aborted(signal: AbortSignal, over: AbortSignal, graceMs: number): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => {
      const timer = setTimeout(() => reject(new WaitAborted()), graceMs)
      over.addEventListener('abort', () => clearTimeout(timer), { once: true })
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true, signal: over })
  })
}
