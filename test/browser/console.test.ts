/** The console as people meet it: a real browser, a real gateway, engine and store. One server and one browser for all of it. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { CuttableConnection } from './cuttable-connection.ts'
import { openBrowser, Visitor } from './open-browser.ts'
import { until } from '../../src/gateway/platform-home.suite.ts'
import { serveConsole, type ServedConsole } from './serve-console.ts'

const cordon = `name: careful-cordon
description: Keep a node free, once somebody on call has looked at it.
inputs:
  node: { type: string }
steps:
  - { name: look, tool: practice.get_node, input: { node: '{inputs.node}' } }
  - { name: cordon, tool: practice.cordon_node, input: { node: '{inputs.node}' }, required_roles: [OnCall] }
  - { name: free, tool: practice.uncordon_node, input: { node: '{inputs.node}' } }
`

let browser: Browser | null = null
let missing = 'the browser was not started'
let served: ServedConsole
let sre: Client
let admin: Visitor
let approver: Visitor

beforeAll(async () => {
  const opened = await openBrowser()
  if ('missing' in opened) return void (missing = opened.missing)
  ;({ browser } = opened)
  served = await serveConsole()
  sre = await served.client('SRE')
  await sre('POST /runbooks', { body: { text: cordon, format: 'yaml' } })
  admin = await signedIn('admin@local', 'Admin')
  approver = await signedIn('approver@local', 'OnCall')
}, 120_000)

afterAll(async () => {
  await browser?.close()
  await served?.close()
}, 60_000)

/** The browser, or a reason to skip. */
function withBrowser({ skip }: TestContext): Browser {
  return browser ?? skip(missing)
}

async function signedIn(
  email: string,
  role: Parameters<ServedConsole['link']>[1],
  look: Parameters<typeof Visitor.open>[2] = {},
  url = served.url,
): Promise<Visitor> {
  const visitor = await Visitor.open(browser!, url, look)
  const link = await served.link(email, role)
  await visitor.page.goto(link.replace(served.url, url))
  await visitor.page.getByRole('heading', { name: 'Dashboard' }).waitFor()
  return visitor
}

/** Begins a run that waits for somebody on call, on a node that no other test uses. */
async function begin(node: string): Promise<{ run: string; approval: string }> {
  const { id: run } = await sre('POST /runs', {
    body: { runbook: 'careful-cordon', mode: 'execute', inputs: { node } },
  })
  return { run, approval: await until(() => waiting(run)) }
}

async function waiting(run: string): Promise<string | null> {
  const { items } = await sre('GET /approvals', { query: { run } })
  return items[0]?.id ?? null
}

const status = (page: Page) =>
  page
    .getByRole('main')
    .getByText(/^(waiting|running|succeeded|failed|cancelled|paused|incomplete)$/)
    .first()

test('nobody gets in without signing in, and is led on afterwards', async (context) => {
  const stranger = await Visitor.open(withBrowser(context), served.url)
  await stranger.page.goto(`${served.url}/`)
  await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await stranger.goTo('/approvals')
  await stranger.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await stranger.examine()).toEqual([])
  await stranger.page.getByLabel('E-mail').fill('admin@local')
  await stranger.page.getByLabel('Password').fill('a guess, and a wrong one')
  await stranger.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await stranger.page.getByRole('alert').getByText('unauthenticated').waitFor()

  const link = await served.link('admin@local', 'Admin')
  await stranger.page.goto(link.replace('sign-in#', 'sign-in?next=%2Fapprovals#'))
  await stranger.page.getByRole('heading', { name: 'Approvals' }).waitFor()
  expect(stranger.page.url()).toBe(`${served.url}/console/approvals`)
  await stranger.close()
})

test('a one-time link counts once, and leads to no other site', async (context) => {
  const link = await served.link('admin@local', 'Admin')
  const first = await Visitor.open(withBrowser(context), served.url)
  await first.page.goto(link.replace('sign-in#', 'sign-in?next=%2F%2Fevil.example%2F#'))
  await first.page.getByRole('heading', { name: 'Dashboard' }).waitFor()
  expect(first.page.url()).toContain(`${served.url}/console/`)
  const second = await Visitor.open(withBrowser(context), served.url)
  await second.page.goto(link)
  await second.page.getByRole('alert').getByText('unauthenticated').waitFor()
  expect(await second.page.locator('body').textContent()).not.toContain('Dashboard')
  await first.close()
  await second.close()
})

test('every page reads well to everybody, in both themes, and runs nothing that is not its own', async (context) => {
  const { run, approval } = await begin('node-1')
  withBrowser(context)
  const visitor = await signedIn('admin@local', 'Admin')
  const links = visitor.page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  const places = await links.allTextContents()
  expect(places).toContain('Audit')
  for (const [index, place] of places.entries()) {
    await links.nth(index).click()
    // Who comes from another page begins at the heading of this one.
    if (index > 0) await visitor.page.locator('h1:focus').waitFor()
    expect(await visitor.examine(), place).toEqual([])
  }
  const more = ['', '?tab=timeline', '?tab=record'].map((tab) => `/runs/${run}${tab}`)
  for (const path of [...more, `/approvals/${approval}`, '/nowhere']) {
    await visitor.goTo(path)
    expect(await visitor.examine(), path).toEqual([])
  }
  await visitor.page.getByRole('button', { name: /^Account/ }).click()
  await visitor.page.getByRole('menuitemradio', { name: 'Dark' }).click()
  expect(await visitor.page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  await visitor.page.reload()
  expect(await visitor.page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  expect(visitor.complaints).toEqual([])
  await visitor.close()
})

test('a run is watched, approved by somebody else with the keyboard, and seen to finish', async (context) => {
  withBrowser(context)
  const { run } = await begin('node-2')
  await admin.goTo(`/runs/${run}`)
  await admin.page.getByText('waits for approval').first().waitFor()
  await admin.page.getByText('live', { exact: true }).waitFor()
  expect(await status(admin.page).textContent()).toBe('waiting')

  await approver.goTo('/approvals')
  await approver.page
    .getByRole('link', { name: /careful-cordon/ })
    .first()
    .waitFor()
  const ids = await approver.page
    .locator('a[data-approval]')
    .evaluateAll((links) =>
      links.map((link) => (link as unknown as { dataset: { approval: string } }).dataset.approval),
    )
  const at = ids.indexOf((await waiting(run))!)
  for (let press = 0; press <= at; press++) await approver.page.keyboard.press('j')
  await approver.page.keyboard.press('a')
  const dialog = approver.page.getByRole('dialog', { name: 'Approve this call' })
  await dialog.getByLabel(/Reason/).fill('Looked at it.')
  expect(await approver.examine()).toEqual([])
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })

  await status(admin.page).getByText('succeeded').waitFor()
  await admin.page.getByRole('tab', { name: 'Timeline' }).click()
  await admin.page.getByText('approver@local approved').waitFor()
  await admin.page.getByText('Looked at it.').first().waitFor()
  await admin.page.getByRole('tab', { name: 'Record' }).click()
  await admin.page.getByRole('button', { name: 'Decide everything again' }).click()
  await admin.page.getByText(/^(consistent|proven)$/).waitFor()
})

test('a playbook is written, its mistake is shown and mended, and a run of it is begun with a form', async (context) => {
  withBrowser(context)
  const sam = await signedIn('sam@local', 'SRE')
  await sam.goTo('/playbooks')
  await sam.page.getByRole('link', { name: 'New playbook' }).click()
  const editor = sam.page.getByRole('textbox', { name: 'Text of the playbook' })
  await editor.waitFor()
  const publish = sam.page.getByRole('button', { name: 'Publish' })
  await expect.poll(() => publish.isEnabled()).toBe(true)
  expect(await sam.examine()).toEqual([])
  const text = cordon.replace('careful-cordon', 'written-here').replace(', required_roles: [OnCall]', '')
  const write = async (whole: string) => {
    await editor.focus()
    await sam.page.keyboard.press('ControlOrMeta+a')
    await sam.page.keyboard.insertText(whole)
  }
  await write(text.replace('steps:', 'stepz:'))
  await sam.page.getByText('stepz').nth(1).waitFor()
  await expect.poll(() => publish.isDisabled()).toBe(true)
  await write(text)
  await sam.page.getByText('No mistakes found.').waitFor()
  await sam.page
    .getByRole('group', { name: 'The steps of the playbook' })
    .getByText('practice.get_node')
    .waitFor()
  await publish.click()
  await sam.page.getByRole('heading', { name: 'written-here' }).waitFor()

  await sam.page.getByRole('button', { name: 'Start a run' }).click()
  const dialog = sam.page.getByRole('dialog')
  await dialog.getByLabel('Mode').selectOption('execute')
  await dialog.getByLabel(/^node/).fill('node-9')
  expect(await sam.examine()).toEqual([])
  await dialog.getByRole('button', { name: /^Start/ }).click()
  await status(sam.page).getByText('succeeded').waitFor()
  // A text that arrives at once is put in by the browser, which tries to style it, and may not.
  expect(sam.complaints.filter((complaint) => !complaint.startsWith('Applying inline style'))).toEqual([])
  await sam.close()
})

test('a denial takes a reason, and ends what it was about', async (context) => {
  withBrowser(context)
  const { run, approval } = await begin('node-3')
  await approver.goTo(`/approvals/${approval}`)
  await approver.page.keyboard.press('d')
  const dialog = approver.page.getByRole('dialog', { name: 'Deny this call' })
  await dialog.getByRole('button', { name: 'Deny', exact: true }).click()
  await dialog.getByText('A denial needs a reason.').waitFor()
  await dialog.getByLabel('Reason').fill('Not while the sale is on.')
  await dialog.getByRole('button', { name: 'Deny', exact: true }).click()
  await approver.page.getByText('Not while the sale is on.').waitFor()
  await admin.goTo(`/runs/${run}`)
  await status(admin.page).getByText('failed').waitFor()
})

test('a lost connection is told, and what happened meanwhile is there once it is back', async (context) => {
  withBrowser(context)
  const { run, approval } = await begin('node-4')
  const connection = await CuttableConnection.open(served.port)
  const far = await signedIn('admin@local', 'Admin', {}, connection.url)
  await far.goTo(`/runs/${run}?tab=timeline`)
  await far.page.getByText('live', { exact: true }).waitFor()
  connection.cut()
  await far.page.getByText('connection lost').waitFor()
  await approver.goTo(`/approvals/${approval}?decide=approve`)
  const dialog = approver.page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Approve', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(async () => (await sre('GET /runs/{id}', { params: { id: run } })).status)
    .toBe('succeeded')
  expect(await status(far.page).textContent()).toBe('waiting')
  connection.mend()
  await status(far.page).getByText('succeeded').waitFor()
  await far.page.getByText('Step free done').waitFor()
  const lines = await far.page
    .getByRole('list', { name: 'What happened' })
    .getByText(/^Step \w+ done$/)
    .allTextContents()
  expect(lines).toEqual(['Step look done', 'Step cordon done', 'Step free done'])
  await far.close()
  await connection.close()
})

test('two windows on one run agree, and what one orders the other shows', async (context) => {
  withBrowser(context)
  const { run } = await begin('node-5')
  const other = await signedIn('admin@local', 'Admin')
  await Promise.all([admin.goTo(`/runs/${run}`), other.goTo(`/runs/${run}`)])
  await admin.page.getByRole('button', { name: 'Cancel' }).click()
  await admin.page.getByRole('dialog').getByLabel('Reason').fill('Enough.')
  await admin.page.getByRole('button', { name: 'Cancel the run' }).click()
  for (const { page } of [admin, other]) await status(page).getByText('cancelled').waitFor()
  await other.close()
})

test('who only looks on is offered nothing else, and refused it', async (context) => {
  withBrowser(context)
  const { run, approval } = await begin('node-6')
  const viewer = await signedIn('viewer@local', 'Viewer')
  await viewer.goTo(`/runs/${run}`)
  await viewer.page.getByText('waits for approval').first().waitFor()
  await viewer.goTo(`/approvals/${approval}`)
  await viewer.page.getByText('You cannot decide this').waitFor()
  for (const name of ['Approve …', 'Deny …', 'Cancel', 'Pause'])
    expect(await viewer.page.getByRole('button', { name }).count(), name).toBe(0)
  await viewer.page.keyboard.press('a')
  expect(await viewer.page.getByRole('dialog').count()).toBe(0)
  const refused = await viewer.page.evaluate<number>(
    `fetch('/approvals/${approval}/approve', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((answer) => answer.status)`,
  )
  expect(refused).toBe(403)
  await viewer.close()
})

test('somebody on call approves on a phone', async (context) => {
  withBrowser(context)
  const { run, approval } = await begin('node-8')
  const phone = await signedIn('approver@local', 'OnCall', { size: 'phone', theme: 'dark' })
  await phone.page.getByRole('button', { name: 'Menu' }).tap()
  await phone.page.getByRole('link', { name: /^Approvals/ }).tap()
  await phone.page.getByRole('heading', { name: 'Approvals' }).waitFor()
  await phone.goTo(`/approvals/${approval}`)
  const approve = phone.page.getByRole('button', { name: 'Approve …' })
  await approve.waitFor()
  expect(await phone.examine()).toEqual([])
  const wider = await phone.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  expect(wider).toBeLessThanOrEqual(0)
  const box = (await approve.boundingBox())!
  expect(box.y + box.height).toBeLessThanOrEqual(780)
  expect(box.height).toBeGreaterThanOrEqual(44)
  await approve.tap()
  await phone.page.getByRole('button', { name: 'Approve', exact: true }).tap()
  await phone.page
    .getByText(/^granted/)
    .first()
    .waitFor()
  await phone.goTo(`/runs/${run}`)
  await status(phone.page).getByText('succeeded').waitFor()
  await phone.close()
})

test('a playbook asks, and is answered in the console', async (context) => {
  withBrowser(context)
  const { id } = await sre('POST /runs', { body: { runbook: 'triage', mode: 'execute' } })
  await admin.goTo(`/runs/${id}`)
  for (const [question, answer] of [
    ['Which service is it?', 'web'],
    ['Do customers notice?', 'yes'],
    ['Was there a release in the last hour?', 'yes'],
  ] as const) {
    // In the conversation: the drawing shows every question from the beginning.
    const asked = admin.page.getByRole('list', { name: 'Conversation' }).getByRole('listitem').last()
    await asked.getByText(question).waitFor()
    const box = admin.page.getByLabel('Your answer')
    await box.fill(answer)
    await box.press('Control+Enter')
  }
  await admin.page.getByText('Take web back: begin rollback-release.').waitFor()
  await status(admin.page).getByText('succeeded').waitFor()
})

test('what others wrote is shown and never run', async (context) => {
  withBrowser(context)
  const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`
  const text = cordon
    .replace('careful-cordon', JSON.stringify(evil))
    .replace('Keep a node free', evil.replaceAll('"', "'").replaceAll(':', ''))
  const { id: runbook } = await sre('POST /runbooks', { body: { name: evil, text, format: 'yaml' } })
  const { id } = await sre('POST /runs', { body: { runbook, mode: 'dry-run', inputs: { node: evil } } })
  for (const path of [
    '/',
    '/runs',
    `/runs/${id}`,
    `/runs/${id}?tab=timeline`,
    '/audit',
    '/playbooks',
    `/playbooks/${runbook}`,
  ]) {
    await admin.goTo(path)
    await admin.settled()
    expect(await admin.page.evaluate('window.hacked'), path).toBeUndefined()
  }
  await admin.goTo(`/runs/${id}`)
  await admin.page.getByRole('heading', { level: 1, name: '<img src=x' }).waitFor()
})
