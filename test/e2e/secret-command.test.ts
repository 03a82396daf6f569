import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SecretStore } from '../../src/source/secret-store.ts'
import { lockstepProgram } from '../built-programs.ts'
import { runLockstep } from './run-lockstep.ts'

const home = mkdtempSync(join(tmpdir(), 'lockstep-secret-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

async function secret(args: readonly string[], stdin = '') {
  return await runLockstep(['secret', ...args], { cwd: home, env: { LOCKSTEP_HOME: home }, stdin })
}

test('processes that set secrets at the same time lose none, and none is shown', async () => {
  const names = ['one', 'two', 'three']
  const ended = await Promise.all(names.map((name) => secret(['set', name], `planted-${name}\n`)))
  expect(ended.map(({ code, err }) => [code, err])).toEqual(names.map(() => [0, '']))
  expect(ended[0]!.out).toBe('one is set. A configuration refers to it as store:one\n')
  const list = await secret(['list'])
  expect(list.out).toMatch(/^NAME {3}SET\none .* UTC\nthree .* UTC\ntwo .* UTC\n$/)
  const json = await secret(['list', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({
    secrets: [{ name: 'one' }, { name: 'three' }, { name: 'two' }],
  })
  expect(list.out + json.out + ended.map(({ out }) => out).join()).not.toContain('planted')
  const store = new SecretStore({ home })
  expect(names.map((name) => store.get(name))).toEqual(names.map((name) => `planted-${name}`))
})

test('a value is refused as an argument, with the reason, and is not repeated', async () => {
  for (const args of [
    ['set', 'shop', 'hunter-22'],
    ['set', 'shop=hunter-22'],
  ]) {
    const { code, out, err } = await secret(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('shells keep those in their history')
    expect(err).not.toContain('hunter')
  }
})

test('a store that was changed is one error that says how to mend it, and stays as it is', async () => {
  await new SecretStore({ home }).set('shop', 'planted-value')
  const path = join(home, 'secrets.json')
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, whole.slice(0, 200))
  const { code, err } = await secret(['set', 'shop'], 'another-value')
  expect([code, readFileSync(path, 'utf8')]).toEqual([1, whole.slice(0, 200)])
  expect(err).toBe(
    `lockstep: The secret store ${path} is not whole, or no secret store of this version. It was left as it is. Restore it from a copy; if that is lost, move the file away and set the secrets anew\n`,
  )
  writeFileSync(path, whole)
  const removed = await secret(['remove', 'shop'])
  expect([removed.code, new SecretStore({ home }).get('shop')]).toEqual([0, null])
})

const there = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!there) console.warn('skipped: script is not there to give a terminal')

test.skipIf(!there)('what is typed at a terminal is not shown', async () => {
  const command = `exec ${process.execPath} ${lockstepProgram} secret set typed`
  const env = { ...process.env, LOCKSTEP_HOME: home, TERM: 'xterm' }
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: home, env, stdio: 'pipe' })
  let seen = ''
  child.stdout.on('data', (chunk: Buffer) => {
    const asked = seen.includes('(not shown): ')
    seen += chunk.toString()
    if (!asked && seen.includes('(not shown): ')) child.stdin.write('planted-typedd\u007f\r')
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  expect([code, seen.replaceAll('\r', '')]).toEqual([
    0,
    'Value of typed (not shown): \ntyped is set. A configuration refers to it as store:typed\n',
  ])
  expect(new SecretStore({ home }).get('typed')).toBe('planted-typed')
})
