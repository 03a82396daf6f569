import { expect, it } from 'vitest'
import type { Config } from '../source/config.ts'
import { differingVariables, digestVariables, variablesOf } from './run-variables.ts'

const secret = (name: string) => ({ kind: 'secret', prefix: '', reference: { from: 'env', name } }) as const
const config = {
  http: [{ headers: { authorization: secret('TOK') }, reconcile: { headers: { key: secret('OTHER') } } }],
  exec: [{ env: {}, passEnv: ['PATH', 'KUBECONFIG'] }],
  mcpServers: {},
  modules: [],
  practice: true,
} as unknown as Config

it('names every variable that the tools and the playbook of a run read', () => {
  expect(variablesOf(config, { secrets: { a: 'env:DEPLOY_KEY', b: 'store:b' } })).toEqual([
    'DEPLOY_KEY',
    'KUBECONFIG',
    'LOCKSTEP_PRACTICE_URL',
    'LOCKSTEP_SECRET_KEY',
    'OTHER',
    'PATH',
    'PRACTICE_FAULTS',
    'TOK',
  ])
})

it('knows none where a module or the program of a secret sees the whole environment', () => {
  expect(variablesOf({ ...config, modules: ['./t.mjs'] }, { secrets: {} })).toBeNull()
  const exec = { kind: 'secret', prefix: '', reference: { from: 'exec', command: ['x'], cwd: '.' } } as const
  const servers = { s: { url: 'https://a.example', headers: { key: exec } } }
  expect(variablesOf({ ...config, mcpServers: servers } as unknown as Config, { secrets: {} })).toBeNull()
})

it('finds what differs without telling what it is, and takes nothing said for a difference', () => {
  const said = digestVariables(['A', 'B', 'C'], 'r_1', { A: 'one', B: 'two' })
  expect(JSON.stringify(said)).not.toMatch(/one|two/)
  expect(differingVariables(said, 'r_1', { A: 'one', B: 'two' })).toEqual([])
  expect(differingVariables(said, 'r_1', { A: 'one', B: 'three', C: '' })).toEqual(['B', 'C'])
  expect(differingVariables(said, 'r_2', { A: 'one', B: 'two' })).toEqual(['A', 'B'])
  expect(differingVariables(undefined, 'r_1', {})).toEqual(['the environment'])
})
