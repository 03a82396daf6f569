import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeyRing } from './chain-keys.ts'
import { isProcessLocked, takeProcessLock } from './process-lock.ts'
import { SqliteJournal } from './sqlite/sqlite-journal.ts'

test('L1: one holder at a time, and whoever gives it back lets the next one in', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'lockstep-lock-')), 'deep', 'x.lock')
  expect(isProcessLocked(path)).toBe(false)
  const lock = takeProcessLock(path)!
  expect([takeProcessLock(path), isProcessLocked(path)]).toEqual([null, true])
  lock.release()
  lock.release()
  expect([isProcessLocked(path), existsSync(path)]).toEqual([false, false])
  takeProcessLock(path)!.release()
})

test('L2, O2: a run is nobody else’s while its process lives, and free when that was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-lock-'))
  const [path, keys] = [join(folder, 'journal.db'), join(folder, 'keys')]
  const here = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const by = { tenant: 'local', principal: 'ada' }
  const fact = { type: 'a', at: 1, data: {} }
  writeFileSync(
    join(folder, 'writer.mjs'),
    `import { openKeyRing } from ${here('chain-keys.ts')}
import { SqliteJournal } from ${here('sqlite/sqlite-journal.ts')}
const journal = new SqliteJournal(${JSON.stringify(path)}, openKeyRing(${JSON.stringify(keys)}))
for (const run of ['r1', 'r2']) await journal.append(run, [${JSON.stringify(fact)}], { ...${JSON.stringify(by)}, expectedSeq: 0 })
await journal.append('r2', [{ type: 'run.finished', at: 2, data: {} }], { ...${JSON.stringify(by)}, expectedSeq: 1 })
process.send('ready')
setInterval(() => undefined, 1000)
`,
  )
  const child = fork(join(folder, 'writer.mjs'), { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(child, 'message')
  const journal = new SqliteJournal(path, openKeyRing(keys))
  const append = () => journal.append('r1', [fact], { ...by, expectedSeq: 1 })
  await expect(append()).rejects.toMatchObject({
    code: 'journal_conflict',
    message: `Run r1 is being written to by process ${child.pid}.`,
  })
  // What has ended is nobody's; and nobody is told that SQLite is new.
  await journal.append('r2', [fact], { ...by, expectedSeq: 2 })
  expect([await journal.openRuns(), said]).toEqual([['r1'], ''])
  child.kill('SIGKILL')
  await once(child, 'exit')
  await append()
  await journal.append('r1', [{ ...fact, type: 'run.finished' }], { ...by, expectedSeq: 2 })
  expect(await journal.openRuns()).toEqual([])
  await journal.claim('r3')
  await journal.close()
  const again = new SqliteJournal(path, openKeyRing(keys))
  expect([await again.openRuns(), await again.has('r3'), await again.has('r1')]).toEqual([[], false, true])
  await again.close()
})

test('L1: of many who take it and look at it at once, one at a time holds it', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'lockstep-lock-')), 'x.lock')
  const script = join(mkdtempSync(join(tmpdir(), 'lockstep-lock-')), 'taker.mjs')
  const log = `${path}.log`
  writeFileSync(
    script,
    `import { appendFileSync } from 'node:fs'
import { isProcessLocked, takeProcessLock } from ${JSON.stringify(new URL('process-lock.ts', import.meta.url).href)}
for (let n = 0; n < 60; n++) {
  isProcessLocked(${JSON.stringify(path)})
  const lock = takeProcessLock(${JSON.stringify(path)})
  if (lock === null) continue
  appendFileSync(${JSON.stringify(log)}, 'in ')
  appendFileSync(${JSON.stringify(log)}, 'out ')
  lock.release()
}
`,
  )
  const children = [1, 2, 3].map(() => fork(script, { stdio: 'inherit' }))
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
  expect(codes).toEqual([0, 0, 0])
  const words = readFileSync(log, 'utf8').trim().split(' ')
  expect(words.length).toBeGreaterThan(20)
  expect(words.every((word, index) => word === (index % 2 === 0 ? 'in' : 'out'))).toBe(true)
})

test('a file that cannot serve as a lock is told as a failure of the store, with what helps', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'lockstep-lock-')), 'x.lock')
  writeFileSync(path, 'no database at all, and long enough to be looked at as one '.repeat(40))
  expect(() => takeProcessLock(path)).toThrow(
    expect.objectContaining({ code: 'journal_unreadable', hint: 'Restore it from a copy.' }),
  )
})
