import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordRuns } from './recorded-runs.ts'
import { archiveMembers, type ArchiveManifest } from '../../src/report/audit-archive.ts'
import { readArchive } from '../../src/report/read-archive.ts'
import { ZipWriter } from '../../src/report/zip-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-archive-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let members: ReadonlyMap<string, string>

beforeAll(async () => {
  const { lines } = await recordRuns()
  members = new Map(archiveMembers(lines).map(([name, content]) => [name, content.toString()]))
})

function read(changed: ReadonlyMap<string, string>) {
  const path = join(folder, 'x.zip')
  const writer = new ZipWriter(path)
  for (const [name, content] of changed) writer.add(name, content)
  writer.close()
  return readArchive(readFileSync(path))
}

const messages = (changed: ReadonlyMap<string, string>) =>
  read(changed).findings.map(({ message }) => message)
const changedAt = (name: string, content: string | null) => {
  const copy = new Map(members)
  if (content === null) copy.delete(name)
  else copy.set(name, content)
  return copy
}

/** The archive with a member changed, and a manifest that says the new digest. */
function restated(name: string, content: string): Map<string, string> {
  const copy = changedAt(name, content)
  const manifest = JSON.parse(members.get('manifest.json')!) as ArchiveManifest
  const stated = manifest.members.map((each) =>
    each.name === name ? { name, bytes: Buffer.byteLength(content), sha256: hash('sha256', content) } : each,
  )
  return copy.set('manifest.json', JSON.stringify({ ...manifest, members: stated }))
}

describe('the archive for auditors', () => {
  test('holds the journal, the texts, the keys, the tables and a report', () => {
    expect([...members.keys()].map((name) => name.replace(/-?[0-9a-f]{12}/, ''))).toEqual([
      'manifest.json',
      'journal.jsonl',
      'playbooks/refund.json',
      'tools/.json',
      'policies/money.json',
      'playbooks/desk.json',
      'playbooks/rollback.json',
      'public-keys.pem',
      'checkpoints.jsonl',
      'runs.csv',
      'approvals.csv',
      'exceptions.csv',
      'report.html',
    ])
    expect(read(members).findings).toEqual([])
    const { summary } = JSON.parse(members.get('manifest.json')!) as ArchiveManifest
    expect(summary).toBe('4 runs opened, 4 closed, none missing · 1 approval · 3 exceptions')
    expect(members.get('public-keys.pem')).toMatch(/^-----BEGIN PUBLIC KEY-----/)
  })

  test('tells who approved what, how they were identified, and how long it took', () => {
    const [head, row, ...more] = members.get('approvals.csv')!.trim().split('\r\n')
    expect(more).toEqual([])
    const cells = Object.fromEntries(
      head!
        .split(',')
        .map((name, index) => [
          name,
          row!.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)![index]!.replace(/,$/, ''),
        ]),
    )
    expect(cells).toMatchObject({
      run: 'policy',
      tool: 'refund',
      arguments: '"{""amount"":30}"',
      policy: 'money@3',
      asked_by: 'ada',
      person: 'bob',
      identified_by: 'local',
      roles: 'lead',
      answer: 'approve',
      reason: 'seen',
      waited_seconds: '0',
      came_to: 'granted',
    })
  })

  test('lists what was out of the ordinary', () => {
    const rows = members.get('exceptions.csv')!.trim().split('\r\n').slice(1)
    expect(rows.map((row) => row.split(',').slice(0, 2).join(' ')).toSorted()).toEqual([
      'denial list',
      'denial list',
      'denial policy',
    ])
  })

  test('a member that was changed, added, left out or named twice is found', () => {
    expect(messages(changedAt('runs.csv', 'run\r\n'))).toEqual(['runs.csv is not what the manifest states'])
    expect(messages(changedAt('exceptions.csv', null))).toEqual(['exceptions.csv is missing'])
    expect(messages(changedAt('more.csv', 'x'))).toEqual([
      'more.csv is in the archive, and the manifest does not name it',
    ])
    expect(messages(changedAt('manifest.json', null))).toEqual(['manifest.json is missing'])
    expect(messages(changedAt('manifest.json', '{"lockstep":"archive"'))).toEqual([
      expect.stringMatching(/manifest\.json cannot be read/),
    ])
    expect(messages(changedAt('journal.jsonl', null))).toEqual(['journal.jsonl is missing'])
  })

  test('a table that does not follow from the journal is found, although the manifest states its digest', () => {
    const fewer = members.get('exceptions.csv')!.replace(/denial,policy.*\r\n/, '')
    expect(messages(restated('exceptions.csv', fewer))).toEqual([
      'exceptions.csv does not follow from the journal',
    ])
    const report = members.get('report.html')!.replace('denial', 'nothing')
    expect(messages(restated('report.html', report))).toEqual([
      'report.html does not follow from the journal',
    ])
    const milder = members.get('manifest.json')!.replace('3 exceptions', '0 exceptions')
    expect(messages(changedAt('manifest.json', milder))).toEqual([
      'the summary in manifest.json does not follow from the journal',
    ])
  })

  test('an archive of something else is refused as such', () => {
    expect(() => read(new Map([['readme.txt', 'hello']]))).toThrow(/no export of Lockstep/)
  })
})
