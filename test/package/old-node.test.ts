import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const binary = fileURLToPath(new URL('../../bin/lockstep.js', import.meta.url))
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Runs the binary in a Node that claims to be the given version. */
function runUnder(version: string, ...args: string[]) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`
  return spawnSync(process.execPath, ['--import', preload, binary, ...args], { encoding: 'utf8' })
}

test.each(['14.21.3', '18.20.8', '20.20.2', '22.17.1'])('Node %s is refused with one sentence', (version) => {
  const { status, stdout, stderr } = runUnder(version, 'demo')
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: `lockstep needs Node 22.18 or newer, and this is Node ${version}.\n`,
  })
})

test.each(['22.18.0', '24.0.0', '26.1.0'])('Node %s is let through', (version) => {
  const { status, stderr } = runUnder(version, '--help')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('the sentence names the version that package.json asks for', () => {
  expect(manifest.engines.node).toBe('>=22.18')
})

test('an old Node can parse the binary: no syntax younger than Node 14', () => {
  const text = readFileSync(binary, 'utf8')
  expect(text).not.toMatch(/\?\?=|\|\|=|&&=|\.at\(|Object\.hasOwn|^import |#\w+\s*[=(;]|static \{|with \{/m)
})
