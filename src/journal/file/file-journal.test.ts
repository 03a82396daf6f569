import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { leasedJournalSuite } from '../journal.suite.ts'
import { FileJournal } from './file-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string) => ({ type, at: 1, data: { text: 'ü' } })
const folder = () => mkdtemp(join(tmpdir(), 'lockstep-journal-'))

describe('FileJournal', () => {
  leasedJournalSuite(
    async () => {
      const path = await folder()
      return { journal: new FileJournal(path), reopen: () => new FileJournal(path) }
    },
    { shares: false },
  )

  test('keeps documents by their digest, and gives back none that was changed', async () => {
    const path = await folder()
    const journal = new FileJournal(path)
    const name = await journal.keep('{"id":"x"}')
    expect(await journal.kept(name)).toBe('{"id":"x"}')
    expect(await journal.kept('sha256:../../etc/passwd')).toBeNull()
    await writeFile(join(path, 'documents', `${name.slice(7)}.json`), '{"id":"y"}')
    expect(await journal.kept(name)).toBeNull()
    expect(await journal.runs()).toEqual([])
  })

  test('J3: an entry cut short by a crash is not there, whichever byte was the last', async () => {
    const path = await folder()
    const file = join(path, 'r1.jsonl')
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    const whole = (await readFile(file)).length
    await journal.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    await journal.close()
    const full = await readFile(file)
    for (let end = whole; end < full.length; end++) {
      await writeFile(file, full)
      await truncate(file, end)
      const again = new FileJournal(path)
      expect(await again.read('r1')).toHaveLength(1)
      await again.append('r1', [fact('c')], { ...by, expectedSeq: 1 })
      expect((await again.read('r1')).map(({ type }) => type)).toEqual(['a', 'c'])
      await again.close()
    }
  })

  test('J2: notices that another process has written to the run', async () => {
    const path = await folder()
    const [one, two] = [new FileJournal(path), new FileJournal(path)]
    await one.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await two.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    await expect(one.append('r1', [fact('c')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_conflict',
    })
    expect(await one.read('r1')).toHaveLength(2)
  })

  test('J4: refuses to read or continue a file that was changed', async () => {
    const path = await folder()
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await journal.close()
    await appendFile(join(path, 'r1.jsonl'), '{"v":1,"seq":7}\n')
    const again = new FileJournal(path)
    await expect(again.read('r1')).rejects.toMatchObject({ code: 'journal_unreadable' })
    await expect(again.append('r1', [fact('b')], { ...by, expectedSeq: 2 })).rejects.toMatchObject({
      code: 'journal_unreadable',
    })
  })
})

describe('two processes', () => {
  // One process for all rounds: what starts is ready before the moment at which it writes.
  const program = `
    import { FileJournal } from ${JSON.stringify(new URL('./file-journal.ts', import.meta.url).href)}
    process.on('message', async ({ path, at, dies }) => {
      const journal = new FileJournal(path)
      while (Date.now() < at) {}
      const fact = { type: 'a', at: 1, data: { pid: process.pid } }
      const by = { tenant: 'acme', principal: 'p' }
      const said = await journal.append('r1', [fact], { ...by, expectedSeq: 0 }).then(() => 'written', ({ code }) => code)
      if (!dies) await journal.close()
      process.send(said, () => { if (dies) process.kill(process.pid, 'SIGKILL') })
    })
    process.send('ready')`

  async function startWriter() {
    const args = ['--input-type=module', '--eval', program]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'message')
    const gone = once(child, 'exit')
    const write = async (order: { path: string; at: number; dies?: boolean }): Promise<unknown> => {
      const said = once(child, 'message')
      child.send(order)
      return (await said)[0]
    }
    return { write, gone }
  }

  test('J2: of two that append the same entry at the same moment, one is told that it did', async () => {
    const writers = await Promise.all([startWriter(), startWriter()])
    for (let round = 0; round < 8; round++) {
      const path = await folder()
      const at = Date.now() + 30
      const said = await Promise.all(writers.map(({ write }) => write({ path, at })))
      expect(said.toSorted()).toEqual(['journal_conflict', 'written'])
      expect(await new FileJournal(path).read('r1')).toHaveLength(1)
    }
  })

  test('J3: a run whose writer was killed can be taken up', async () => {
    const path = await folder()
    const { write, gone } = await startWriter()
    expect(await write({ path, at: 0, dies: true })).toBe('written')
    expect(await gone).toEqual([null, 'SIGKILL'])
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    expect(await journal.read('r1')).toHaveLength(2)
    await journal.close()
  })
})
