import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { connectStdio, Desk, refusal, rightCalls, textOf, type StdioClient } from '../mcp/gateway-process.ts'
import { runLockstep } from './run-lockstep.ts'

let desk: Desk
let open: StdioClient[] = []

beforeEach(() => {
  desk = new Desk()
})

afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  open = []
  desk.remove()
})

async function connect(...flags: string[]): Promise<StdioClient> {
  const connected = await connectStdio(desk.command(...flags), '2025-11-25')
  open.push(connected)
  return connected
}

/** The gateway as a process whose client says nothing. */
function start(...flags: string[]) {
  return runLockstep(desk.command(...flags).slice(1), { cwd: desk.folder, stdin: '' })
}

function settle(...args: string[]) {
  const data = `${desk.folder}/data`
  const command = ['mcp', 'settle', ...args, '--playbook', desk.playbook, '--data', data]
  return runLockstep(command, { cwd: desk.folder })
}

/** Leaves a refund behind of which nobody knows what became of it. */
async function loseRefund(run: string): Promise<void> {
  desk.behave('hang')
  const { call, crash } = await connect('--run', run)
  await call(...rightCalls[0]!)
  await call(...rightCalls[1]!)
  const pending = call(...rightCalls[2]!).catch(() => null)
  await vi.waitFor(() => expect(desk.done).toContain('refund'), 60_000)
  crash()
  await pending
  desk.behave('')
}

test('a person settles a call of unknown outcome, and the run goes on', async () => {
  await loseRefund('lost')
  const back = await connect('--run', 'lost')
  const refused = refusal(await back.call(...rightCalls[2]!))
  expect(refused).toMatchObject({ code: 'outcome_unknown', allowed: ['fail_step'] })
  expect(refused['next']).toContain('waits for a person')
  const { procedure } = refused as { procedure: { unsettled: { call: string; tool: string }[] } }
  const [{ call: callId, tool }] = procedure.unsettled as [{ call: string; tool: string }]
  expect(tool).toBe('refund')

  const busy = await settle('lost', `${callId}=succeeded`)
  expect(busy).toMatchObject({ code: 1, err: expect.stringMatching(/is being written to by process \d+/) })
  await back.close()
  expect(await settle('lost', 'nonsense=succeeded')).toMatchObject({
    code: 2,
    err: expect.stringContaining(`Open are ${callId} (refund).`),
  })
  expect(await settle('lost', `${callId}=sucseeded`)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`did you mean ${callId}=succeeded?`),
  })
  const done = await settle('lost', `${callId.slice(0, 8)}=succeeded`, '--result', '{"refunded": 30}')
  expect(done, done.err).toMatchObject({ code: 0, out: expect.stringContaining('refund') })
  expect(desk.record.at(-1)?.type).not.toBe('gateway.opened')

  const again = await connect('--run', 'lost')
  expect(textOf(await again.call(...rightCalls[3]!))).toContain('all 4 steps are done')
  expect(textOf(await again.call('finish'))).toContain('accepted')
  expect(desk.done.filter((each) => each === 'refund')).toHaveLength(1)
  const settled = desk.record.filter(({ data }) => data['callId'] === callId && 'outcome' in data)
  expect(settled.map(({ data }) => data['outcome'])).toEqual(['unknown', 'succeeded'])
})

test('a call that a person found not to have happened may be made again, also before anybody came back', async () => {
  await loseRefund('lost')
  const [ticket] = desk.record.filter(
    ({ type, data }) => type === 'tool.admitted' && data['tool'] === 'refund',
  )
  expect(await settle('lost', `${String(ticket?.data['callId'])}=failed`)).toMatchObject({ code: 0 })
  const back = await connect('--run', 'lost')
  expect((await back.call(...rightCalls[2]!)).isError).not.toBe(true)
  expect(desk.done.filter((each) => each === 'refund')).toHaveLength(2)
})

test('a run that another process has is refused at the start, with the number of that process', async () => {
  const { close } = await connect('--run', 'shared')
  const second = await start('--run', 'shared')
  expect(second.code).toBe(1)
  expect(second.err).toMatch(/Run shared is being written to by process \d+/)
  expect(second.err).not.toContain('recorded in')
  await close()
  expect(await start('--run', 'shared')).toMatchObject({ code: 0 })
  // Nobody called anything, so nothing was begun.
  expect(desk.record).toEqual([])
})

test.each(['../../x', 'a b', '-x', 'x'.repeat(129)])(
  'no run is called %s, and the start says why',
  async (name) => {
    const ended = await start(`--run=${name}`)
    expect(ended).toMatchObject({ code: 2, err: expect.stringContaining("etters, digits, '_' and '-' can") })
    expect(ended.err).not.toContain('recorded in')
  },
)

test('observing lets a final answer that comes too early pass, as often as it comes, and says so at the end', async () => {
  const { call, said, close } = await connect('--observe')
  for (let attempt = 1; attempt <= 4; attempt++) {
    const answer = await call('finish', { message: 'Done!' })
    expect(answer.isError, textOf(answer)).not.toBe(true)
  }
  expect((await call('complete_step')).isError).not.toBe(true)
  expect((await call(...rightCalls[2]!)).isError).not.toBe(true)
  expect(desk.done).toEqual(['refund'])
  await close()
  expect(said()).toContain('would have denied 5 of 5 calls')
  expect(said()).toMatch(/finish: finish_refused: .*required steps are not done: verify_customer/)
  expect(desk.record.some(({ type }) => type === 'run.finished')).toBe(false)
})

test('a run that has ended says that nothing more can be done in it', async () => {
  const { call } = await connect()
  for (let attempt = 1; attempt <= 3; attempt++) refusal(await call('finish'))
  expect(refusal(await call(...rightCalls[0]!))).toMatchObject({
    code: 'run_ended',
    next: 'The run has ended: nothing more can be done in it.',
  })
})
