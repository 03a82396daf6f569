import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Desk } from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

let desk: Desk

beforeEach(() => {
  desk = new Desk()
})

afterEach(() => desk.remove())

test('a port that is taken is said so, and is no mistake of usage', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  const [, ...args] = desk.command('--http', String(port))
  const { code, out, err } = await runLockstep(args, { cwd: desk.folder })
  taken.close()
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(
    `lockstep: Something else listens on 127.0.0.1:${port} already. Stop it, or choose another port`,
  )
  expect(err).not.toContain('lockstep help')
})
