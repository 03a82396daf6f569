import { afterAll, expect, it } from 'vitest'
import { systemActor } from '../directory/principal.ts'
import { publishSamples } from '../platform/samples.ts'
import { createPlatformGateway } from './platform-gateway.ts'
import { makePlatformHome, openTrialServer, until, type TrialServer } from './platform-home.suite.ts'

const home = makePlatformHome()
afterAll(() => home.remove())

async function standing({ send }: TrialServer, run: string, wanted: string) {
  return await until(async () => {
    const { body } = await send(`GET /runs/${run}`, 'Viewer')
    return body.status === wanted && body
  })
}

interface Stream {
  readonly seqs: number[]
  readonly text: () => string
  readonly over: Promise<void>
  leave(): void
}

/** Follows a run over a real connection. */
async function follow(url: string, key: string, after: number | null): Promise<Stream> {
  const controller = new AbortController()
  const last = after === null ? {} : { 'last-event-id': String(after) }
  const response = await fetch(url, { signal: controller.signal, headers: { 'x-api-key': key, ...last } })
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ])
  let text = ''
  const seqs: number[] = []
  const reading = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true })
      seqs.length = 0
      for (const [, seq] of text.matchAll(/^id: (\d+)\n.*\n.*\n\n/gm)) seqs.push(Number(seq))
    }
  }
  return { seqs, text: () => text, over: reading().catch(() => undefined), leave: () => controller.abort() }
}

it('goes on after a restart where it was, and is followed over lost connections without a gap', async () => {
  const first = await openTrialServer(home)
  const rollback = await publishSamples(first.platform)
  const begun = await first.send('POST /runs', 'SRE', { runbook: 'triage', mode: 'execute' })
  const triage = begun.body.id as string
  await standing(first, triage, 'waiting')
  expect((await first.send(`POST /runs/${triage}/messages`, 'SRE', { text: 'web' })).status).toBe(202)
  await until(async () => (await standing(first, triage, 'waiting')).conversation.length === 3)
  await standing(first, rollback, 'waiting')
  await first.app.close()
  await first.platform.close({ graceMs: 1000 })

  const second = await openTrialServer(home)
  const { platform, send } = second
  // Before anybody sits down to it, a run says what it waits for, as its record does.
  expect(await standing(second, triage, 'waiting')).toMatchObject({ waitsFor: [{ kind: 'answer' }] })
  expect(await platform.recover()).toBe(2)
  const wanted = { name: 'follower', role: 'Viewer', project: null, expiresAt: null } as const
  const key = await platform.directory.keys.make(systemActor('local'), wanted)
  const live = await createPlatformGateway(platform, { beatMs: 10, console: home.folder })
  home.closing(() => live.close())
  const address = await live.listen({ port: 0, host: '127.0.0.1' })

  const events = `${address}/runs/${triage}/events`
  const one = await follow(events, key.secret, null)
  expect((await send(`POST /runs/${triage}/messages`, 'SRE', { text: 'yes' })).status).toBe(202)
  const { seq } = await until(async () => {
    const asked = await standing(second, triage, 'waiting')
    return asked.conversation.length === 5 && asked
  })
  await until(async () => one.seqs.length >= seq)
  one.leave()
  const seen = one.seqs.at(-1)!
  expect((await send(`POST /runs/${triage}/messages`, 'SRE', { text: 'yes' })).status).toBe(202)
  const two = await follow(events, key.secret, seen)
  await two.over
  const page = await standing(second, triage, 'succeeded')
  expect([...one.seqs, ...two.seqs]).toEqual(Array.from({ length: page.seq }, (_, index) => index + 1))
  expect(two.text().endsWith('event: end\ndata: {}\n\n')).toBe(true)
  expect(page.conversation.at(-1).text).toContain('Take web back')

  // Whose key is revoked is cut off, and not let in again.
  const three = await follow(`${address}/runs/${rollback}/events`, key.secret, null)
  await until(async () => three.text().includes(': \n\n'))
  await platform.directory.keys.revoke(systemActor('local'), key.key.id)
  await three.over
  expect(three.text()).not.toContain('event: end')
  expect((await fetch(events, { headers: { 'x-api-key': key.secret } })).status).toBe(401)

  const [held] = (await send(`GET /approvals?run=${rollback}`, 'OnCall')).body.items
  expect((await send(`POST /approvals/${held.id}/approve`, 'OnCall', {})).status).toBe(200)
  await standing(second, rollback, 'succeeded')
  expect((await send(`GET /runs/${rollback}/verify`, 'Viewer')).body.problems).toEqual([])
})
