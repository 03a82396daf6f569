import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { spawnSync } from 'node:child_process'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { LockHeldError, withFileLock } from './file-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let path = ''
beforeEach(() => (path = join(mkdtempSync(join(folder, 'f-')), 'file')))

function leave(holder: object | string): void {
  writeFileSync(`${path}.lock`, typeof holder === 'string' ? holder : JSON.stringify(holder))
}

/** The number of a process that is gone. */
function goneProcess(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

describe('withFileLock', () => {
  it('F1: lets one at a time, gives back what the work does, and leaves nothing', async () => {
    let inside = 0
    let most = 0
    const work = async (index: number) => {
      most = Math.max(most, ++inside)
      await pause(2)
      inside -= 1
      return index
    }
    const done = await Promise.all([0, 1, 2, 3, 4].map((index) => withFileLock(path, () => work(index))))
    expect([done, most]).toEqual([[0, 1, 2, 3, 4], 1])
    expect(readdirSync(join(path, '..'))).toEqual([])
  })

  it('is free again after work that throws', async () => {
    await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await withFileLock(path, () => 1, 0)).toBe(1)
  })

  it('F3: takes over from a process that is gone, once', async () => {
    leave({ pid: goneProcess(), host: hostname(), since: Date.now(), token: 'x' })
    let inside = 0
    const work = async () => {
      expect(++inside).toBe(1)
      await pause(2)
      inside -= 1
    }
    await Promise.all([1, 2, 3, 4].map(() => withFileLock(path, work)))
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('F3: takes over from an earlier process that had the same number', async () => {
    leave({ pid: process.pid, host: hostname(), since: 0, token: 'x' })
    expect(await withFileLock(path, () => 1, 1000)).toBe(1)
  })

  it.each([
    ['a live process', { pid: process.ppid, host: hostname(), since: Date.now(), token: 'x' }],
    ['another machine', { pid: goneProcess(), host: 'elsewhere.example', since: 0, token: 'x' }],
    ['nobody knows whom', 'garbled'],
  ])('F3: never takes it from %s', async (_, holder) => {
    leave(holder)
    const waiting = withFileLock(path, () => 1, 60)
    await expect(waiting).rejects.toBeInstanceOf(LockHeldError)
    await expect(waiting).rejects.toMatchObject({ path: `${path}.lock` })
    expect(existsSync(`${path}.lock`)).toBe(true)
  })
})
