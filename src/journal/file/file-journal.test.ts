import { execFile } from 'node:child_process'
import { appendFile, mkdtemp, readFile, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
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
  const program = (path: string, n: number) => `
    import { FileJournal } from ${JSON.stringify(new URL('./file-journal.ts', import.meta.url).href)}
    const journal = new FileJournal(${JSON.stringify(path)})
    while (Date.now() < Number(process.argv[1])) {}
    try {
      await journal.append('r1', [{ type: 'a', at: 1, data: { n: ${n} } }], { tenant: 'acme', principal: 'p', expectedSeq: 0 })
      process.stdout.write('written')
    } catch (error) { process.stdout.write(error.code) }
    if (process.argv[2] !== 'crash') await journal.close()
    else process.kill(process.pid, 'SIGKILL')`
  const start = (path: string, n: number, at: number, end = '') =>
    promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program(path, n),
      String(at),
      end,
    ]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    )

  test('J2: of two that append the same entry at the same moment, one is told that it did', async () => {
    for (let round = 0; round < 8; round++) {
      const path = await folder()
      const at = Date.now() + 400
      const said = await Promise.all([start(path, 1, at), start(path, 2, at)])
      expect(said.toSorted()).toEqual(['journal_conflict', 'written'])
      expect(await new FileJournal(path).read('r1')).toHaveLength(1)
    }
  })

  test('J3: a run whose writer was killed can be taken up', async () => {
    const path = await folder()
    expect(await start(path, 1, 0, 'crash')).toBe('written')
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    expect(await journal.read('r1')).toHaveLength(2)
    await journal.close()
  })
})
