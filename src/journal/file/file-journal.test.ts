import { appendFile, mkdtemp, readFile, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { journalSuite } from '../journal.suite.ts'
import { FileJournal } from './file-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string) => ({ type, at: 1, data: { text: 'ü' } })
const folder = () => mkdtemp(join(tmpdir(), 'lockstep-journal-'))

describe('FileJournal', () => {
  journalSuite(async () => {
    const path = await folder()
    return { journal: new FileJournal(path), reopen: () => new FileJournal(path) }
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
