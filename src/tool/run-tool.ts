import type { Json } from '../shared/json.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { Tool } from './tool.ts'

/** The most milliseconds a timer of the platform can count; 24 days. */
const longest = 2 ** 31 - 1

/** Runs the work, giving up on it when its time is over or the caller aborts; the work is told by its signal. */
export function withLimits(
  limits: { readonly seconds: number | null; readonly signal: AbortSignal | undefined },
  work: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  const { seconds, signal } = limits
  return seconds === null ? untilCancelled(signal, work) : within(seconds, signal, work)
}

async function within(
  seconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  const controller = new AbortController()
  const stop = (why: string) => controller.abort(new Error(why))
  const cancel = () => stop('it was cancelled')
  outer?.addEventListener('abort', cancel, { once: true })
  // A timer that keeps the process alive: an outcome that nobody waits for is still an outcome.
  const timer = setTimeout(
    () => stop(`it took longer than ${seconds} s`),
    Math.min(Math.ceil(seconds * 1000), longest),
  )
  try {
    return await new Promise((resolve, reject) => {
      if (outer?.aborted === true) {
        reject(new Error('it was cancelled before it began'))
        return
      }
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), {
        once: true,
      })
      Promise.resolve(work(controller.signal)).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', cancel)
  }
}

const never = new AbortController().signal

/** Work without a time of its own needs no signal of its own; what is done at once needs nothing at all. */
async function untilCancelled(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => unknown,
): Promise<unknown> {
  if (outer?.aborted === true) throw new Error('it was cancelled before it began')
  const value = work(outer ?? never)
  if (outer === undefined || typeof value !== 'object' || value === null || !('then' in value))
    return await value
  return await new Promise((resolve, reject) => {
    const cancel = () => reject(new Error('it was cancelled'))
    outer.addEventListener('abort', cancel, { once: true })
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => outer.removeEventListener('abort', cancel))
  })
}

/** What a tool returned, as JSON. It succeeded whatever it returned, so what JSON cannot hold becomes a note. */
export function readResult(value: unknown): Json | undefined {
  if (value === undefined) return undefined
  const strict = toJson(value, partLimits)
  if (strict.problem === null) return strict.value
  try {
    // Dates and class instances say by themselves how they are written.
    const lenient = toJson(JSON.parse(JSON.stringify(value, refuseLossy) ?? 'null'), partLimits)
    if (lenient.problem === null) return lenient.value
  } catch {
    // Falls through: it cannot be written at all.
  }
  return `[result not kept: ${strict.problem}]`
}

/** What JSON would silently empty or drop is not written at all. */
function refuseLossy(_: string, value: unknown): unknown {
  const lossy =
    value instanceof Map || value instanceof Set || typeof value === 'function' || typeof value === 'symbol'
  if (lossy) throw new TypeError('not JSON')
  return value
}

/** Tells a tool, as far as it wants to know, that nobody waits for its call any more. */
export function giveUp(tool: Tool | null, key: string): void {
  try {
    Promise.resolve(tool?.cancel?.(key)).catch(() => undefined)
  } catch {
    // Cancelling is a courtesy; whether it worked, the outcome says.
  }
}
