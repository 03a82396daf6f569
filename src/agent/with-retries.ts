import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../shared/message-of.ts'
import { untilAborted } from './until-aborted.ts'

/** How often, and until when, a service is asked again. */
export interface Retries {
  readonly maxRetries: number
  readonly signal: AbortSignal
}

const firstDelayMs = 2_000
/** A wish to wait for longer than this is not followed: who asked for the run would take it for dead. */
const longestWishMs = 60_000

/**
 * Asks a service until it answers or does not fail in passing, waiting as long as it wishes, else twice as long each time. Throws what
 * it threw if asking again would not help, and says how often it was asked if it did not. An abort ends it at once, whether or not
 * the service listens.
 */
export async function withRetries<Answer>(
  { maxRetries, signal }: Retries,
  ask: () => PromiseLike<Answer>,
  passes: (error: unknown) => boolean = isPassing,
): Promise<Answer> {
  for (let attempt = 1, delay = firstDelayMs; ; attempt++, delay *= 2) {
    try {
      return await untilAborted(signal, ask)
    } catch (error) {
      if (signal.aborted || maxRetries === 0) throw error
      const helps = passes(error)
      if (!helps && attempt === 1) throw error
      if (!helps || attempt > maxRetries) {
        throw new Error(`${attempt} attempts failed, the last one with: ${messageOf(error)}`, {
          cause: error,
        })
      }
      await sleep(wishOf(error, delay) ?? delay, undefined, { signal })
    }
  }
}

/** Whether the fault may be gone the next time, as the provider's package judges it. */
export function isPassing(error: unknown): boolean {
  return error instanceof Error && (error as { isRetryable?: unknown }).isRetryable === true
}

/** How many milliseconds the service wants to be left alone; null where it does not say, or wants too much. */
function wishOf(error: unknown, delay: number): number | null {
  const headers = headersOf(error) ?? headersOf((error as { cause?: unknown } | null)?.cause) ?? {}
  const [ms, after] = [headers['retry-after-ms'], headers['retry-after']]
  // A time that has passed is as good as now.
  const wish = readNumber(ms) ?? seconds(after) ?? Math.max(0, Date.parse(String(after)) - Date.now())
  return wish >= 0 && (wish < longestWishMs || wish < delay) ? wish : null
}

function headersOf(error: unknown): Readonly<Record<string, string>> | null {
  const { responseHeaders } = (error ?? {}) as { responseHeaders?: Readonly<Record<string, string>> }
  return responseHeaders ?? null
}

function seconds(text: string | undefined): number | null {
  const value = readNumber(text)
  return value === null ? null : value * 1000
}

function readNumber(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : null
}
