import {
  chmodSync,
  chownSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { approvalId } from '../run/approval-id.ts'
import { VoteBox } from './vote-box.ts'

const me = userInfo().username
const vote = { run: 'r_1', callId: 'c_1', answer: 'approve', reason: 'checked' } as const
let home: string
let box: VoteBox
let told: string[]

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lockstep-votes-'))
  told = []
  box = new VoteBox(join(home, 'runs'), (text) => told.push(text))
})

afterEach(() => rmSync(home, { recursive: true, force: true }))

const only = () => join(box.folder, readdirSync(box.folder)[0]!)

test('a vote is found once, under the name of the user who left it, in a folder of their own', () => {
  expect(box.read('r_1', 'c_1')).toEqual([])
  box.put(vote)
  expect(statSync(box.folder).mode & 0o777).toBe(0o700)
  const [found, ...more] = box.read('r_1', 'c_1')
  expect(more).toEqual([])
  expect(found).toMatchObject({ ...vote, person: me })
  found!.remove()
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(readdirSync(box.folder)).toEqual([])
  expect(told).toEqual([])
})

test('B1: what a file says of its author is nothing', () => {
  box.put({ ...vote, person: 'root-of-all', uid: 0 } as never)
  expect(box.read('r_1', 'c_1')[0]).toMatchObject({ person: me })
})

test('B1: a file that belongs to another user is their vote', ({ skip }) => {
  if (process.geteuid?.() !== 0) skip('only root can give files away')
  box.put(vote)
  chownSync(only(), 65_534, 65_534)
  expect(box.read('r_1', 'c_1')[0]).toMatchObject({ person: 'nobody' })
})

test('B1: a number without a name is nobody', ({ skip }) => {
  if (process.geteuid?.() !== 0) skip('only root can give files away')
  box.put(vote)
  chownSync(only(), 54_321, 54_321)
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told[0]).toContain('knows no name for its owner (54321)')
})

test('B2: a file that others could have written, linked or pointed to is no vote', () => {
  box.put(vote)
  chmodSync(only(), 0o664)
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told.pop()).toContain('others than its owner may write it')
  rmSync(only())
  box.put(vote)
  linkSync(only(), join(home, 'other'))
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told.pop()).toContain('it has other names')
  const path = only()
  rmSync(path)
  symlinkSync(join(home, 'other'), path.replace('.json', 'x.json'))
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told).toHaveLength(1)
})

test('B3: a vote that was moved is for no other call', () => {
  box.put(vote)
  renameSync(only(), join(box.folder, `${approvalId('r_1', 'c_2')}.x.json`))
  expect(box.read('r_1', 'c_2')).toEqual([])
  expect(told[0]).toContain('it is for another call')
})

test('what is no vote is told of once and left', () => {
  box.prepare()
  const name = (end: string) => join(box.folder, `${approvalId('r_1', 'c_1')}.${end}.json`)
  writeFileSync(name('a'), 'approve!')
  writeFileSync(name('b'), JSON.stringify({ format: 'lockstep.vote', version: 1, run: 'r_1', callId: 'c_1' }))
  writeFileSync(name('c'), `"${'x'.repeat(20_000)}"`)
  for (const end of ['a', 'b', 'c']) chmodSync(name(end), 0o600)
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told).toHaveLength(3)
  expect(box.read('r_1', 'c_1')).toEqual([])
  expect(told).toHaveLength(3)
})
