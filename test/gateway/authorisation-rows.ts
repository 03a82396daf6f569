import { readFileSync } from 'node:fs'
import type { RouteName } from '../../src/api/contract.ts'
import type { Things } from './authorisation-things.ts'

/**
 * Where something is, and so what a stranger is answered:
 * `open`   nobody has to say who they are
 * `own`    everybody's own account: a key has none
 * `known`  nothing of the tenant is in it: whoever has the permission anywhere
 * `list`   shows what one may see, and nothing else
 * `thing`  one thing of the project `web`: not there for who has no role in it
 * `tenant` concerns the tenant as a whole: a role in a project is not enough
 * `member` a thing of the tenant, which a role in a project does not reach
 * `new`    makes a thing in the project `default`, or in the one that is named
 */
export type Place = 'open' | 'own' | 'known' | 'list' | 'thing' | 'tenant' | 'member' | 'new'

/** How a route is asked. */
export interface Row {
  readonly place: Place
  /** What stands in the braces of the path, made anew for every request where it would be used up. */
  readonly id?: (things: Things) => string | Promise<string>
  readonly query?: string
  readonly body?: (things: Things) => unknown
  readonly headers?: Readonly<Record<string, string>>
}

const sample = (file: string) =>
  readFileSync(new URL(`../../examples/platform/${file}`, import.meta.url), 'utf8')
let made = 0
const unique = (name: string) => `${name}-${++made}`
const runbookText = (name: string) =>
  `name: ${name}\nsteps:\n  - name: look\n    tool: practice.get_node\n    input: { node: node-1 }\n`
const policyText =
  'id: p\nrules:\n  - { id: small, tool: practice.refund, require: args.amount <= 5, message: Less. }\n'
const cases = `policy: p.yaml
cases:
  - name: much
    request: { tool: practice.refund, args: { amount: 9 }, risk: write, target: null }
    expect: { verdict: deny }
`
const textBody = () => {
  const name = unique('book')
  return { name, text: runbookText(name), format: 'yaml' }
}
const policyBody = () => ({ name: unique('policy'), text: policyText })
const webhookBody = { name: 'chat', url: 'https://chat.example/x', events: ['run.finished'] }
const call = { tool: 'practice.get_node', args: { node: 'node-1' } }
const ifFirst = { 'if-match': '"1"' }

/** A row for every route of the contract. */
export const rows: Readonly<Record<RouteName, Row>> = {
  health: { place: 'open' },
  ready: { place: 'open' },
  metrics: { place: 'tenant' },
  listModels: { place: 'known' },
  describe: { place: 'known' },
  signInByLink: { place: 'open', body: () => ({ token: 'x' }) },
  // Not a whole question: to compute the hash of a password takes long.
  signInByPassword: { place: 'open', body: () => ({ email: 'a@b' }) },
  passkeyChallenge: { place: 'open' },
  signInByPasskey: { place: 'open', body: () => ({}) },
  signOut: { place: 'known' },
  getMe: { place: 'known' },
  updateMe: { place: 'own', body: () => ({ name: 'x' }) },
  setPassword: { place: 'own', body: () => ({ password: 'correct horse' }) },
  listSessions: { place: 'own' },
  endSession: { place: 'own', id: () => 'ses_x' },
  passkeyOptions: { place: 'own' },
  addPasskey: { place: 'own', body: () => ({}) },
  listPasskeys: { place: 'own' },
  removePasskey: { place: 'own', id: () => 'psk_x' },
  listTenants: { place: 'list' },
  createTenant: { place: 'tenant', body: () => ({ id: unique('t'), name: 'T' }) },
  listProjects: { place: 'list' },
  createProject: { place: 'tenant', body: () => ({ name: unique('project') }) },
  updateProject: { place: 'thing', id: ({ web }) => web, body: () => ({ name: unique('web') }) },
  deleteProject: { place: 'thing', id: ({ web }) => web },
  listUsers: { place: 'known' },
  createUser: { place: 'tenant', body: () => ({ email: `${unique('u')}@x`, name: 'U' }) },
  updateUser: { place: 'member', id: ({ user }) => user, body: () => ({ name: 'x' }) },
  makeLink: { place: 'member', id: ({ user }) => user },
  listBindings: { place: 'list' },
  createBinding: {
    place: 'tenant',
    body: ({ user }) => ({ subject: { kind: 'user', id: user }, role: 'Viewer', project: null }),
  },
  deleteBinding: { place: 'thing', id: async ({ newBinding }) => await newBinding() },
  listApiKeys: { place: 'list' },
  createApiKey: { place: 'tenant', body: () => ({ name: 'k', role: 'Viewer', project: null }) },
  rotateApiKey: { place: 'thing', id: async ({ newKey }) => await newKey() },
  deleteApiKey: { place: 'thing', id: async ({ newKey }) => await newKey() },
  listSecrets: { place: 'tenant' },
  setSecret: { place: 'tenant', id: () => 'TOKEN', body: () => ({ value: 'hunter2-hunter2' }) },
  deleteSecret: { place: 'tenant', id: () => 'TOKEN' },
  listRunbooks: { place: 'list' },
  createRunbook: { place: 'new', body: textBody },
  checkRunbook: { place: 'known', body: () => ({ text: 'x', format: 'yaml' }) },
  getRunbook: { place: 'thing', id: ({ runbook }) => runbook },
  updateRunbook: {
    place: 'thing',
    id: async ({ newRunbook }) => await newRunbook(),
    headers: ifFirst,
    body: textBody,
  },
  deleteRunbook: { place: 'thing', id: async ({ newRunbook }) => await newRunbook() },
  duplicateRunbook: { place: 'thing', id: ({ runbook }) => runbook, body: () => ({ name: unique('copy') }) },
  archiveRunbook: { place: 'thing', id: async ({ newRunbook }) => await newRunbook() },
  unarchiveRunbook: { place: 'thing', id: async ({ newRunbook }) => await newRunbook() },
  listRunbookVersions: { place: 'thing', id: ({ runbook }) => runbook },
  getRunbookVersion: { place: 'thing', id: ({ runbook }) => runbook },
  diffRunbook: { place: 'thing', id: ({ runbook }) => runbook, query: 'from=1&to=1' },
  listPolicies: { place: 'list' },
  createPolicy: { place: 'tenant', body: policyBody },
  checkPolicy: { place: 'known', body: () => ({ text: policyText }) },
  explainPolicies: { place: 'known', body: () => call },
  getPolicy: { place: 'thing', id: ({ policy }) => policy },
  updatePolicy: {
    place: 'thing',
    id: async ({ newPolicy }) => await newPolicy(),
    headers: ifFirst,
    body: () => ({ ...policyBody(), appliesTo: 'project' }),
  },
  deletePolicy: { place: 'thing', id: async ({ newPolicy }) => await newPolicy() },
  listPolicyVersions: { place: 'thing', id: ({ policy }) => policy },
  getPolicyVersion: { place: 'thing', id: ({ policy }) => policy },
  diffPolicy: { place: 'thing', id: ({ policy }) => policy, query: 'from=1&to=1' },
  testPolicy: { place: 'known', body: () => ({ text: policyText, cases }) },
  listRuns: { place: 'list' },
  startRun: { place: 'thing', body: ({ runbook }) => ({ runbook }) },
  getRun: { place: 'thing', id: ({ run }) => run },
  followRun: { place: 'thing', id: ({ run }) => run },
  cancelRun: { place: 'thing', id: ({ run }) => run },
  pauseRun: { place: 'thing', id: ({ run }) => run },
  resumeRun: { place: 'thing', id: ({ run }) => run },
  settleCall: {
    place: 'thing',
    id: ({ run }) => run,
    body: () => ({ outcome: 'failed', reason: 'trial' }),
  },
  answerRun: { place: 'thing', id: ({ run }) => run, body: () => ({ text: 'hello' }) },
  exportRun: { place: 'thing', id: ({ run }) => run },
  verifyRun: { place: 'thing', id: ({ run }) => run },
  getHalt: { place: 'known' },
  setHalt: { place: 'tenant', body: () => ({ reason: 'trial' }) },
  liftHalt: { place: 'tenant', body: () => ({ reason: 'trial' }) },
  listTools: { place: 'known' },
  planTool: { place: 'known', body: () => call },
  invokeTool: { place: 'new', body: () => call },
  listApprovals: { place: 'list' },
  getApproval: { place: 'thing', id: ({ approval }) => approval },
  approve: { place: 'thing', id: ({ approval }) => approval, body: () => ({}) },
  deny: { place: 'thing', id: ({ approval }) => approval, body: () => ({ reason: 'no' }) },
  listAudit: { place: 'tenant' },
  verifyAudit: { place: 'tenant' },
  listCheckpoints: { place: 'tenant' },
  exportAudit: { place: 'tenant' },
  getAnalytics: { place: 'list' },
  exportAnalytics: { place: 'list' },
  listWebhooks: { place: 'tenant' },
  createWebhook: { place: 'tenant', body: () => webhookBody },
  updateWebhook: { place: 'member', id: ({ webhook }) => webhook, body: () => ({ active: false }) },
  deleteWebhook: { place: 'member', id: async ({ newWebhook }) => await newWebhook() },
  listDeliveries: { place: 'member', id: ({ webhook }) => webhook },
  testWebhook: { place: 'member', id: ({ webhook }) => webhook },
  listHooks: { place: 'tenant' },
  createHook: {
    place: 'tenant',
    body: ({ runbook }) => ({ name: 'page', kind: 'generic', runbook }),
  },
  deleteHook: { place: 'member', id: async ({ newHook }) => await newHook() },
  receiveHook: { place: 'open', id: ({ hook }) => hook, body: () => ({}) },
}

/** A playbook with a call that takes a person's yes. */
export const heldRunbook = sample('rollback-release.yaml')
export { policyText, runbookText, unique, webhookBody }
