import type { Role } from '../../src/api/permission.ts'
import { systemActor } from '../../src/directory/principal.ts'
import { until, type TrialServer } from '../../src/gateway/platform-home.suite.ts'
import { heldRunbook, policyText, runbookText, unique, webhookBody } from './authorisation-rows.ts'

/** What there is in the project `web` of the first tenant, and in the tenant. */
export interface Things {
  readonly web: string
  readonly api: string
  readonly user: string
  readonly runbook: string
  readonly policy: string
  /** A run that has ended. */
  readonly run: string
  /** A call of another run, which waits. */
  readonly approval: string
  readonly webhook: string
  readonly hook: string
  newBinding(): Promise<string>
  newKey(): Promise<string>
  newRunbook(): Promise<string>
  newPolicy(): Promise<string>
  newWebhook(): Promise<string>
  newHook(): Promise<string>
  /** The key of a role, in a project or in the whole tenant. */
  key(tenant: string, role: Role, project: string | null): Promise<string>
}

/** Makes the things that strangers must not see. */
export async function makeThings({ platform, send }: TrialServer): Promise<Things> {
  const { directory, overview } = platform
  const actor = systemActor('local')
  const web = (await directory.projects.make(actor, 'web')).id
  const api = (await directory.projects.make(actor, 'api')).id
  const { user } = await directory.people.add(actor, { email: 'grace@acme.example', name: 'Grace Secretly' })
  const publish = async (name: string, text: string) =>
    (await directory.runbooks.publish(actor, web, { name, text, note: null, format: 'yaml' })).id
  const newRunbook = async () => {
    const name = unique('secret-book')
    return await publish(name, runbookText(name))
  }
  const newPolicy = async () => {
    const wanted = { name: unique('secret-policy'), text: policyText, note: null }
    return (await directory.policies.publish(actor, web, { ...wanted, appliesTo: 'project', runbook: null }))
      .id
  }
  const newWebhook = async () => {
    const wanted = { ...webhookBody, template: 'json' as const, active: true }
    return (await directory.webhooks.make(actor, { ...wanted, events: ['run.finished'] as never })).webhook.id
  }
  const runbook = await newRunbook()
  const start = async (of: string, body: object) => {
    const { body: card, status } = await send('POST /runs', 'Admin', { runbook: of, ...body })
    if (status !== 201) throw new Error(`the run was not begun: ${JSON.stringify(card)}`)
    return String(card.id)
  }
  const run = await start(runbook, {})
  const scope = { tenant: 'local', projects: null }
  await until(async () => (await overview.run('local', run))?.endedAt !== null)
  const held = await start(await publish('secret-rollback', heldRunbook), {
    mode: 'execute',
    inputs: { node: 'node-7', service: 'web' },
  })
  const waiting = await until(async () => {
    const { items } = await overview.approvals(scope, { state: 'waiting', run: held, limit: 1 })
    return items[0]
  })
  return {
    web,
    api,
    user: user.id,
    runbook,
    policy: await newPolicy(),
    run,
    approval: waiting.id,
    webhook: await newWebhook(),
    ...(await hooks()),
    newRunbook,
    newPolicy,
    newWebhook,
    newBinding: async () => {
      const { user: somebody } = await directory.people.add(actor, { email: `${unique('m')}@x`, name: 'M' })
      const subject = { kind: 'user', id: somebody.id } as const
      return (await directory.bindings.bind(actor, { subject, role: 'Viewer', project: web })).id
    },
    newKey: async () => {
      const wanted = { name: unique('secret-key'), role: 'Viewer', project: web, expiresAt: null } as const
      return (await directory.keys.make(actor, wanted)).key.id
    },
    key: async (tenant, role, project) =>
      (await directory.keys.make(systemActor(tenant), { name: role, role, project, expiresAt: null })).secret,
  }

  async function hooks() {
    const newHook = async () => {
      const wanted = {
        name: 'page',
        kind: 'generic',
        runbook,
        mode: 'dry-run',
        inputs: {},
        when: null,
      } as const
      return (await directory.hooks.make(actor, { ...wanted, active: true } as never)).hook.id
    }
    return { newHook, hook: await newHook() }
  }
}
