/**
 * Makes the pictures of the console in docs/images: a real gateway in a folder of its own, runs that really happen on the
 * practice service, a real browser.
 */
import { mkdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '../src/gateway/platform-home.suite.ts'
import { openBrowser, Visitor } from '../test/browser/open-browser.ts'
import { serveConsole, type ServedConsole } from '../test/browser/serve-console.ts'

type Shot = {
  readonly name: string
  readonly path: string
  readonly look?: Parameters<typeof Visitor.open>[2]
  /** What is loaded on its own, and has to be there. */
  readonly parts?: readonly string[]
  /** What is done on the page before the picture is taken. */
  readonly before?: (visitor: Visitor) => Promise<void>
}

/** Who is signed in already, so that the record is not full of people who sign in. */
const signedIn = new Map<string, Visitor>()
const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))
mkdirSync(folder, { recursive: true })
const opened = await openBrowser()
if ('missing' in opened) throw new Error(opened.missing)
const { browser } = opened
const served = await serveConsole()
try {
  const sam = await visit('sam@acme.example', 'SRE')
  const { first, talk, done } = await makeHistory(sam)
  const wanted = process.argv.slice(2)
  for (const shot of await shots(sam, first, talk, done)) {
    if (wanted.length === 0 || wanted.includes(shot.name)) await take(shot)
  }
} finally {
  await browser.close()
  await served.close()
}

async function visit(
  email: string,
  role: Parameters<ServedConsole['link']>[1],
  look: Shot['look'] = {},
): Promise<Visitor> {
  const visitor = await Visitor.open(browser, served.url, look)
  await visitor.page.goto(await served.link(email, role))
  await visitor.page.getByRole('heading', { name: 'Dashboard' }).waitFor()
  return visitor
}

/** Some runs: one that waits, one that was approved, one that was denied, dry runs, and a conversation. */
async function makeHistory(sam: Visitor) {
  const oncall = await visit('olu@acme.example', 'OnCall')
  const begin = async (body: object): Promise<string> => (await send(sam, 'POST', '/runs', body)).id
  for (const order of ['ORD-42', 'ORD-43'])
    await begin({ runbook: 'refund-order', mode: 'dry-run', inputs: { order_id: order } })
  const done = await begin({
    runbook: 'rollback-release',
    mode: 'execute',
    inputs: { node: 'node-3', service: 'api' },
  })
  await decide(oncall, done, 'approve', 'Error rate is at 14 %. Go ahead.')
  const refused = await begin({ runbook: 'refund-order', mode: 'execute', inputs: { order_id: 'ORD-42' } })
  await decide(oncall, refused, 'deny', 'The customer was paid back by hand already.')
  const talk = await begin({ runbook: 'triage', mode: 'execute' })
  for (const text of ['web', 'yes']) {
    await until(async () => (await send(sam, 'GET', `/runs/${talk}`)).waitsFor.length > 0)
    await send(sam, 'POST', `/runs/${talk}/messages`, { text })
  }
  await until(async () => (await send(sam, 'GET', `/runs/${talk}`)).waitsFor.length > 0)
  await until(async () => (await send(sam, 'GET', `/runs/${done}`)).status === 'succeeded')
  const first = await begin({ runbook: 'rollback-release', mode: 'execute' })
  await approvalOf(sam, first)
  await oncall.close()
  return { first, talk, done }
}

async function decide(
  visitor: Visitor,
  run: string,
  answer: 'approve' | 'deny',
  reason: string,
): Promise<void> {
  await send(visitor, 'POST', `/approvals/${await approvalOf(visitor, run)}/${answer}`, { reason })
}

async function approvalOf(visitor: Visitor, run: string): Promise<string> {
  return await until<string>(async () => (await send(visitor, 'GET', `/approvals?run=${run}`)).items[0]?.id)
}

// oxlint-disable-next-line typescript/no-explicit-any -- The answers of a dozen routes, for a script that only reads them.
async function send(visitor: Visitor, method: string, path: string, body?: object): Promise<any> {
  const request = JSON.stringify({ method, body: body === undefined ? undefined : JSON.stringify(body) })
  return await visitor.page.evaluate(`(async () => {
    const { csrfToken } = await (await fetch('/me')).json()
    const headers = { 'x-csrf-token': csrfToken, 'content-type': 'application/json' }
    const answer = await fetch(${JSON.stringify(path)}, { ...${request}, headers })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  })()`)
}

async function shots(sam: Visitor, first: string, talk: string, done: string): Promise<Shot[]> {
  const approval = await approvalOf(sam, first)
  const { items: runbooks } = await send(sam, 'GET', '/runbooks')
  const { items: policies } = await send(sam, 'GET', '/policies')
  const playbook = runbooks.find(({ name }: { name: string }) => name === 'rollback-release').id
  return [
    { name: 'dashboard', path: '/' },
    { name: 'playbooks', path: '/playbooks' },
    {
      name: 'playbook',
      path: `/playbooks/${playbook}`,
      parts: ['.cm-content', '[role=group] button, [role=group] div'],
    },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: `/runs/${first}` },
    {
      name: 'run-dark',
      path: `/runs/${done}?tab=timeline`,
      look: { theme: 'dark' },
      parts: ['[aria-label="What happened"] li'],
    },
    { name: 'conversation', path: `/runs/${talk}` },
    { name: 'approvals', path: '/approvals' },
    { name: 'approval', path: `/approvals/${approval}` },
    { name: 'approval-phone', path: `/approvals/${approval}`, look: { size: 'phone', theme: 'dark' } },
    { name: 'policies', path: '/policies' },
    { name: 'policy', path: `/policies/${policies[0].id}`, parts: ['.cm-content'] },
    { name: 'analytics', path: '/analytics', parts: ['.recharts-bar-rectangle'] },
    {
      name: 'audit',
      path: '/audit',
      before: async ({ page }) => {
        await page.getByRole('button', { name: 'Check the chain' }).click()
        await page.getByText(/^(?:consistent|proven)$/).waitFor()
      },
    },
    { name: 'settings', path: '/settings' },
  ]
}

async function visitAgain(...[email, role, look]: Parameters<typeof visit>): Promise<Visitor> {
  const key = JSON.stringify([email, look])
  const known = signedIn.get(key) ?? (await visit(email, role, look))
  signedIn.set(key, known)
  return known
}

async function take({ name, path, look, before, parts }: Shot): Promise<void> {
  const visitor = path.startsWith('/approvals')
    ? await visitAgain('olu@acme.example', 'OnCall', look)
    : await visitAgain('ada@acme.example', 'Admin', look)
  await visitor.goTo(path)
  await visitor.settled()
  await Promise.all((parts ?? []).map((part) => visitor.page.locator(part).first().waitFor()))
  await before?.(visitor)
  await visitor.page.mouse.move(0, 0)
  const file = `${folder}${name}.png`
  await visitor.page.screenshot({ path: file, animations: 'disabled', caret: 'hide' })
  process.stdout.write(`${name}.png ${Math.round(statSync(file).size / 1024)} KB\n`)
}
