import { expect, test } from 'vitest'
import { checkConsole } from './check-console.ts'

const packages = { production: ['zod'], development: ['react', '@tanstack/react-query'] }
const rulesBroken = (files: Record<string, string>) =>
  checkConsole(new Map(Object.entries(files)), packages).map(({ rule, file }) => `${rule} ${file}`)

test('the console may use itself, the contract, the client, the pure core and declared packages', () => {
  expect(
    rulesBroken({
      'main.tsx': `import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import './style.css'
import type { Contract } from '../../src/api/contract.ts'
const page = () => <b>{import('./page/run-page.tsx')}</b>`,
      'style.css': '',
      'page/run-page.tsx': `import { parsePlaybook } from '../../../src/playbook/parse-playbook.ts'`,
    }),
  ).toEqual([])
})

test('the console may use nothing that runs on the server', () => {
  expect(
    rulesBroken({
      'a.ts': `import { createGateway } from '../../src/gateway/create-gateway.ts'`,
      'b.ts': `import type { Run } from '../../src/run/event.ts'`,
      'c.ts': `import { readFileSync } from 'node:fs'`,
      'd.ts': `import x from 'left-pad'`,
      'e.ts': `import { run } from '../../test/agent/run.ts'`,
      'f.ts': `import './missing.ts'`,
      'g.ts': `void import(name)`,
      'Shell.tsx': `export const Shell = () => <p />`,
    }),
  ).toEqual([
    'file-name Shell.tsx',
    'folder a.ts',
    'folder b.ts',
    'package c.ts',
    'package d.ts',
    'folder e.ts',
    'unresolved f.ts',
    'computed-import g.ts',
  ])
})

test('a tree in which no import is seen is a breach', () => {
  expect(rulesBroken({ 'a.ts': 'export const a = 1' })).toEqual(['no-code .'])
})
