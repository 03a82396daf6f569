import { spawnSync } from 'node:child_process'
import { mkdtemp, open, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FileJournal } from './file-journal.ts'

const by = { tenant: 'acme', principal: 'ada' }
const fact = (type: string, text = 'ü') => ({ type, at: 1, data: { text } })
const folder = () => mkdtemp(join(tmpdir(), 'lockstep-run-file-'))

/** Counts how often a file is synced on a disk that takes so long. */
async function watchSyncs(ms = 3) {
  const handle = await open(import.meta.filename)
  const prototype = Object.getPrototypeOf(handle) as { datasync: () => Promise<void> }
  await handle.close()
  return vi.spyOn(prototype, 'datasync').mockImplementation(() => sleep(ms))
}

/** Lets no lazy append be synced before it is told to, however slow this is. */
function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('the file of a run', () => {
  test('F1: is synced once for an append, and not at once for a lazy one', async () => {
    stopClock()
    const syncs = await watchSyncs()
    const path = await folder()
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('a'), fact('b')], { ...by, expectedSeq: 0 })
    expect(syncs).toHaveBeenCalledTimes(1)
    await journal.append('r1', [fact('c')], { ...by, expectedSeq: 2, lazy: true })
    expect(syncs).toHaveBeenCalledTimes(1)
    expect(await new FileJournal(path).read('r1')).toHaveLength(3)
    await journal.append('r1', [fact('d')], { ...by, expectedSeq: 3 })
    expect(syncs).toHaveBeenCalledTimes(2)
    await journal.append('r1', [fact('e')], { ...by, expectedSeq: 4, lazy: true })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(syncs).toHaveBeenCalledTimes(3)
    await journal.close()
  })

  test('F1: is synced without another thread where the disk is quicker than that', async () => {
    const syncs = await watchSyncs()
    syncs.mockResolvedValue(undefined)
    const journal = new FileJournal(await folder())
    for (let seq = 0; seq < 50; seq++) await journal.append('r1', [fact('a')], { ...by, expectedSeq: seq })
    expect(syncs.mock.calls.length).toBeLessThan(50)
    await journal.close()
  })

  test('F1: keeps a lazy append though the process is killed right after it', async () => {
    const path = await folder()
    const code = `
      import { FileJournal } from ${JSON.stringify(new URL('./file-journal.ts', import.meta.url).href)}
      const journal = new FileJournal(${JSON.stringify(path)})
      const by = { tenant: 't', principal: 'p' }
      await journal.append('r1', [{ type: 'a', at: 1, data: {} }], { ...by, expectedSeq: 0, lazy: true })
      process.kill(process.pid, 'SIGKILL')`
    spawnSync(process.execPath, ['--input-type=module', '--eval', code])
    expect(await readFile(join(path, 'r1.jsonl'), 'utf8')).toContain('\0')
    expect(await new FileJournal(path).read('r1')).toMatchObject([{ type: 'a' }])
  })

  test('F2: ends with its last entry once nobody writes to it any more', async () => {
    const path = await folder()
    const journal = new FileJournal(path)
    let seq = 0
    for (const length of [10, 70_000, 200_000, 5]) {
      await journal.append('r1', [fact('a', 'x'.repeat(length))], { ...by, expectedSeq: seq++ })
    }
    expect((await journal.read('r1')).map(({ data }) => String(data['text']).length)).toEqual([
      10, 70_000, 200_000, 5,
    ])
    await journal.close()
    const text = await readFile(join(path, 'r1.jsonl'), 'utf8')
    expect(text).not.toContain('\0')
    expect(text.endsWith('}\n')).toBe(true)
  })

  test('F2: ends so as well where a program ends without closing the journal', async () => {
    const path = await folder()
    const code = `
      import { FileJournal } from ${JSON.stringify(new URL('./file-journal.ts', import.meta.url).href)}
      const by = { tenant: 't', principal: 'p', expectedSeq: 0 }
      await new FileJournal(${JSON.stringify(path)}).append('r1', [{ type: 'a', at: 1, data: {} }], by)`
    spawnSync(process.execPath, ['--input-type=module', '--eval', code])
    expect((await stat(join(path, 'r1.jsonl'))).size).toBeLessThan(200)
    expect(await new FileJournal(path).read('r1')).toHaveLength(1)
  })

  test('F3: what a power failure left of an append is not there, whichever part of it is missing', async () => {
    const path = await folder()
    const file = join(path, 'r1.jsonl')
    const journal = new FileJournal(path)
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await journal.close()
    const whole = await readFile(file)
    const again = new FileJournal(path)
    await again.append('r1', [fact('b'), fact('c')], { ...by, expectedSeq: 1 })
    await again.close()
    const full = await readFile(file)
    for (let at = whole.length; at < full.length; at += 7) {
      const torn = Buffer.from(full)
      torn.fill(0, at, Math.min(at + 20, full.length))
      await writeFile(file, Buffer.concat([torn, Buffer.alloc(1000)]))
      const next = new FileJournal(path)
      const kept = await next.read('r1')
      expect(kept.map(({ type }) => type)).toEqual(['a', 'b', 'c'].slice(0, kept.length))
      await next.append('r1', [fact('d')], { ...by, expectedSeq: kept.length })
      expect((await next.read('r1')).at(-1)).toMatchObject({ type: 'd' })
      await next.close()
    }
  })

  test('F4: is opened anew after a sync that failed, and whoever waited for it is told', async () => {
    stopClock()
    const path = await folder()
    const journal = new FileJournal(path)
    const syncs = await watchSyncs()
    await journal.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    syncs.mockClear()
    syncs.mockRejectedValueOnce(new Error('EIO'))
    await journal.append('r1', [fact('b')], { ...by, expectedSeq: 1, lazy: true })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(syncs).toHaveBeenCalledTimes(1)
    await expect(journal.append('r1', [fact('c')], { ...by, expectedSeq: 2 })).rejects.toMatchObject({
      code: 'journal_unwritable',
      cause: { message: 'EIO' },
    })
    await journal.append('r1', [fact('c')], { ...by, expectedSeq: 2 })
    expect(await journal.read('r1')).toHaveLength(3)
    await journal.close()
  })

  test('lets a writer go on that has read what another one wrote', async () => {
    const path = await folder()
    const [one, two] = [new FileJournal(path), new FileJournal(path)]
    await one.append('r1', [fact('a')], { ...by, expectedSeq: 0 })
    await two.append('r1', [fact('b')], { ...by, expectedSeq: 1 })
    await expect(one.append('r1', [fact('x')], { ...by, expectedSeq: 1 })).rejects.toMatchObject({
      code: 'journal_conflict',
    })
    await one.append('r1', [fact('c')], { ...by, expectedSeq: 2 })
    expect((await two.read('r1')).map(({ type }) => type)).toEqual(['a', 'b', 'c'])
    await one.close()
    await two.close()
    expect((await readFile(join(path, 'r1.jsonl'), 'utf8')).split('\n')).toHaveLength(4)
  })
})
