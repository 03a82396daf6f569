import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connectStdio, Desk, refusal, rightCalls, textOf, type StdioClient } from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let desk: Desk
let clients: StdioClient[] = []

beforeEach(() => {
  desk = new Desk()
})

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  clients = []
  desk.remove()
})

async function connect(...flags: string[]): Promise<StdioClient> {
  const client = await connectStdio(desk.command(...flags), '2025-11-25')
  clients.push(client)
  return client
}

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

test('a second gateway cannot write to the run of a first one, and says who has it', async () => {
  const first = await connect('--run', 'case-7')
  expect(textOf(await first.call(...rightCalls[0]!))).toContain('step 2 of 4')
  const second = await connect('--run', 'case-7')
  const refused = await second.call(...rightCalls[1]!)
  expect(refused.isError).toBe(true)
  expect(textOf(refused)).toMatch(/Run case-7 is being written to by process \d+/)
  expect(refusal(refused)).toMatchObject({ executed: false })
  // The first one goes on as if nothing had happened; when it is gone, the run can be had.
  expect(textOf(await first.call(...rightCalls[1]!))).toContain('step 3 of 4')
  await first.close()
  const third = await connect('--run', 'case-7')
  expect(textOf(await third.call(...rightCalls[2]!))).toContain('step 4 of 4')
  expect(desk.done).toEqual(['lookup_customer', 'lookup_order', 'refund'])
})
