/** What a first start publishes, so that there is something to look at: real texts, and a real run on the practice service. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { localTenant } from '../directory/open-directory.ts'
import { systemActor } from '../directory/principal.ts'
import { packageRoot } from '../source/package-root.ts'
import type { Platform } from './platform.ts'

const runbooks = [
  { file: 'rollback-release.yaml', name: 'rollback-release', format: 'yaml' },
  { file: 'refund-order.yaml', name: 'refund-order', format: 'yaml' },
  { file: 'triage.md', name: 'triage', format: 'markdown' },
] as const
const policy = { file: 'practice-policy.yaml', name: 'practice' }
const systemName = systemActor(localTenant).principal
const note = 'A sample; it acts on the practice service, where nothing is real.'

/** Whether nobody has ever published or run anything: what a first start that was cut off has left counts for nothing. */
export async function isUntouched({ directory, overview }: Platform): Promise<boolean> {
  const { runbooks: published, policies } = directory.tenants.find(localTenant)!
  const { items } = await overview.runs({ tenant: localTenant, projects: null }, { limit: 1 })
  const ours = [...published.values(), ...policies.values()].every(
    ({ versions, deleted, updatedBy }) => !deleted && versions.length === 1 && updatedBy === systemName,
  )
  return ours && items.length === 0
}

/** Publishes the samples and begins a run that waits for somebody on call; gives the name of the run. */
export async function publishSamples(platform: Platform): Promise<string> {
  const { directory, texts, desk } = platform
  const actor = systemActor(localTenant)
  const project = directory.projects.default(localTenant).id
  if (directory.policies.byName(localTenant, project, policy.name) === null) {
    const text = read(policy.file)
    const scope = { appliesTo: 'tenant', runbook: null } as const
    await directory.policies.publish(actor, project, { name: policy.name, text, note, ...scope })
  }
  for (const { file, name, format } of runbooks) {
    if (directory.runbooks.byName(localTenant, project, name) !== null) continue
    await directory.runbooks.publish(actor, project, { name, text: read(file), note, format })
  }
  const { id } = directory.runbooks.byName(localTenant, project, 'rollback-release')!
  const runbook = (await texts.runbook(localTenant, id))!
  return await desk.begin({
    tenant: localTenant,
    project,
    by: { actor: systemName, kind: 'local', roles: [], persons: [systemName] },
    playbook: await texts.open(localTenant, runbook, 1),
    runbook: { id: runbook.id, name: runbook.name, version: 1 },
    mode: 'execute',
    inputs: { node: 'node-7', service: 'web' },
    context: {},
    model: null,
    prompt: null,
  })
}

function read(file: string): string {
  return readFileSync(join(packageRoot(), 'examples', 'platform', file), 'utf8')
}
