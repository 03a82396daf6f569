import { APICallError } from '@ai-sdk/provider'
import { describe, expect, test } from 'vitest'
import { withRetries } from './with-retries.ts'

const { signal } = new AbortController()

function fault(headers: Record<string, string> = {}, statusCode = 503): APICallError {
  return new APICallError({
    message: 'overloaded',
    url: 'test',
    requestBodyValues: {},
    statusCode,
    responseHeaders: headers,
  })
}

/** A service that fails with these, one after the other, and then answers. */
function failing(...errors: unknown[]): (() => Promise<string>) & { asked: number[] } {
  const asked: number[] = []
  const ask = async () => {
    asked.push(Date.now())
    if (errors.length > 0) throw errors.shift()
    return 'answer'
  }
  return Object.assign(ask, { asked })
}

const waits = ({ asked }: { asked: number[] }) => asked.slice(1).map((time, index) => time - asked[index]!)

describe('asking a service again', () => {
  test('waits as long as the service wishes, in milliseconds, seconds or until a time', async () => {
    const date = new Date(Date.now() - 1_000).toUTCString()
    const ask = failing(
      fault({ 'retry-after-ms': '30' }),
      fault({ 'retry-after': '0.04' }),
      fault({ 'retry-after': date }),
    )
    expect(await withRetries({ maxRetries: 3, signal }, ask)).toBe('answer')
    const [first, second, third] = waits(ask)
    expect(first).toBeGreaterThanOrEqual(29)
    expect(second).toBeGreaterThanOrEqual(39)
    expect(third).toBeLessThan(1_500)
  })

  test('does not ask again where that would not help, and says what the service said', async () => {
    const ask = failing(fault({}, 401))
    await expect(withRetries({ maxRetries: 2, signal }, ask)).rejects.toMatchObject({ message: 'overloaded' })
    expect(ask.asked).toHaveLength(1)
    const plain = failing(new Error('broken'))
    await expect(withRetries({ maxRetries: 2, signal }, plain)).rejects.toThrow('broken')
    expect(plain.asked).toHaveLength(1)
  })

  test('stops at once when the run is cancelled, also while it waits', async () => {
    for (const headers of [
      { 'retry-after': '50' },
      { 'retry-after': '86400' },
      { 'retry-after': 'soon' },
      {},
    ]) {
      const controller = new AbortController()
      const ask = failing(fault(headers))
      const asking = withRetries({ maxRetries: 2, signal: controller.signal }, ask)
      setTimeout(() => controller.abort(), 5)
      await expect(asking).rejects.toThrow()
      expect(ask.asked).toHaveLength(1)
    }
  })
})
