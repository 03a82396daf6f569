import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Agent } from '../../agent/agent.ts'
import { openKeyRing } from '../../journal/chain-keys.ts'
import { SqliteJournal } from '../../journal/sqlite/sqlite-journal.ts'
import { definePlaybook } from '../../playbook/define-playbook.ts'
import { tool } from '../../tool/tool.ts'
import { agentWork } from '../agent-work.ts'
import { engineAddress } from '../engine-address.ts'
import { EngineClient } from '../engine-client.ts'
import { openEngine, type OpenEngine } from './open-engine.ts'

const playbook = definePlaybook({
  id: 'p',
  name: 'P',
  steps: ['one', 'two', 'three'].map((id) => ({ id, tool: 'act', input: { id } })),
})

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function world() {
  const home = mkdtempSync(join(tmpdir(), 'ls-'))
  const state = { done: [] as string[], begun: 0, held: null as Promise<void> | null }
  /** What begins from now on takes until it is let go. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    state.held = promise
    return () => {
      state.held = null
      resolve()
    }
  }
  const act = tool({
    name: 'act',
    description: 'Acts.',
    risk: 'write',
    execute: async ({ id }) => {
      state.begun++
      await state.held
      state.done.push(String(id))
    },
  })
  const open = async (): Promise<OpenEngine | null> => {
    const work = async (run: string) =>
      agentWork(new Agent({ playbook, tools: [act], journal: opened!.engine.journal, model: 'none' }), run, {
        prompt: '',
      })
    const opened: OpenEngine | null = await openEngine(home, {
      openStore: async () => new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys'))),
      load: work,
      begin: work,
    })
    if (opened !== null) ends.push(() => opened.close())
    return opened
  }
  const connect = async () => {
    const client = await EngineClient.connect(engineAddress(home))
    if (client !== null) ends.push(() => client.close())
    return client
  }
  return { home, state, hold, open, connect }
}

test('N1, N3: one engine per store; a socket that was left behind is none', async () => {
  const { home, open, connect } = world()
  writeFileSync(join(home, 'engine.sock'), '')
  writeFileSync(join(home, 'engine.lock'), '')
  expect(await connect()).toBeNull()
  const first = (await open())!
  expect(await open()).toBeNull()
  expect((await connect())!.pid).toBe(process.pid)
  expect([
    statSync(join(home, 'engine.sock')).mode & 0o777,
    statSync(join(home, 'engine.token')).mode & 0o777,
  ]).toEqual([0o600, 0o600])
  await first.close()
  expect(await connect()).toBeNull()
  expect(await open()).not.toBeNull()
})

test('a second process begins runs there, follows, pauses, goes on and cancels', async () => {
  const { state, hold, open, connect } = world()
  const release = hold()
  await open()
  const client = (await connect())!
  await client.begin('r1', {})
  await client.begin('r2', {})
  expect((await client.runs()).toSorted()).toEqual(['r1', 'r2'])
  const told: string[] = []
  const { signal } = new AbortController()
  const following = (async () => {
    for await (const { type, seq } of client.tail('r1', 1, signal)) told.push(`${seq} ${type}`)
  })()
  while (state.begun < 2) await sleep(2)
  expect(await client.order('r2', { type: 'cancel', by: 'ada', reason: null })).toBe(true)
  expect(await client.order('r1', { type: 'pause', by: 'ada', reason: null })).toBe(true)
  release()
  expect(await client.resume('r1')).toMatchObject({ ended: null })
  expect(await client.order('r1', { type: 'unpause', by: 'ada', reason: null })).toBe(true)
  await following
  expect(told[0]).toBe('1 run.started')
  expect(told.at(-1)).toMatch(/run\.finished$/)
  await expect(client.order('r9', { type: 'pause', by: 'ada', reason: null })).rejects.toMatchObject({
    code: expect.stringMatching(/invalid_snapshot|usage|invalid_value/),
  })
  expect(await client.halt('ada', 'stop')).toBe(true)
  expect(await client.halted()).toMatchObject({ by: 'ada', reason: 'stop' })
  expect(await client.unhalt('ada', 'go')).toBe(true)
})

test('N2: who does not know the token, or speaks another version, is told nothing', async () => {
  const { home, open } = world()
  await open()
  const token = readFileSync(join(home, 'engine.token'), 'utf8')
  const say = (...lines: string[]) =>
    new Promise<string>((resolve) => {
      let heard = ''
      const socket = createConnection(engineAddress(home).socket, () =>
        socket.write(lines.map((line) => `${line}\n`).join('')),
      )
      socket.on('data', (chunk) => (heard += chunk.toString()))
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(heard))
    })
  const hello = (params: object) => JSON.stringify({ id: 1, method: 'hello', params })
  const runs = JSON.stringify({ id: 2, method: 'runs', params: {} })
  expect(await say(runs)).toBe('')
  expect(await say(hello({ v: 1, token: 'x'.repeat(64) }), runs)).not.toContain('result')
  expect(await say(hello({ v: 2, token }))).toContain('version 1')
  expect(await say('no json')).toBe('')
  expect(
    await say(hello({ v: 1, token }), JSON.stringify({ id: 3, method: 'erase', params: {} })),
  ).not.toContain('"id":3')
})

test('who follows a run hears that the engine has ended', async () => {
  const { state, hold, open, connect } = world()
  const release = hold()
  const engine = (await open())!
  const client = (await connect())!
  await client.begin('r1', {})
  const following = (async () => {
    for await (const _ of client.tail('r1', 1, new AbortController().signal))
      while (state.done.length === 0) await sleep(2)
  })()
  following.catch(() => undefined)
  while (state.begun === 0) await sleep(2)
  const closing = engine.close()
  release()
  await closing
  await following.catch((error: unknown) => expect(error).toMatchObject({ code: 'engine_unavailable' }))
})
