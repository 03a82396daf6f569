import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemActor } from '../directory/principal.ts'
import { makePlatformHome, type PlatformHome } from '../gateway/platform-home.suite.ts'
import { loadConfig } from '../source/load-config.ts'

let home: PlatformHome | null = null
afterAll(() => home?.remove())

test('what is configured for the tools of the installation holds for every tenant', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-configured-'))
  writeFileSync(
    join(folder, 'all.yaml'),
    'id: all\nrules:\n  - { id: small, tool: practice.refund, require: args.amount < 5, message: Less. }\n',
  )
  writeFileSync(join(folder, 'lockstep.config.yaml'), 'policies: [all.yaml]\npractice: true\n')
  home = makePlatformHome(await loadConfig(join(folder, 'lockstep.config.yaml')))
  const { directory, texts } = await home.open()
  await directory.tenants.make(systemActor('local'), { id: 'acme', name: 'Acme' })
  for (const tenant of ['local', 'acme']) {
    const project = directory.projects.default(tenant).id
    const policies = await texts.policiesFor(tenant, project, null)
    expect(policies.map(({ ref }) => ref.id)).toContain('all')
  }
})
