import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { approveCommand } from '../../src/cli/approve-command.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import { readRuns } from './read-runs.ts'
import { runHere } from './run-here.ts'
import { runLockstep } from './run-lockstep.ts'

const root = mkdtempSync(join(tmpdir(), 'lockstep-approve-'))
const me = userInfo().username
afterAll(() => rmSync(root, { recursive: true, force: true }))
afterEach(() => vi.unstubAllEnvs())

let folder = ''
let env: Record<string, string> = {}
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'))
  env = { LOCKSTEP_HOME: join(folder, 'home') }
  // Tools that leave a line for each time they really ran.
  write(
    'note.mjs',
    `import { appendFileSync } from 'node:fs'
appendFileSync('log', process.argv.slice(2).join(' ') + '\\n')
`,
  )
  configure()
  policy()
  writeJson('p.yaml', {
    id: 'p',
    name: 'Payments',
    steps: ['look', 'pay'].map((id) => ({ id, description: id, expected_tools: [id] })),
  })
  script(
    { calls: [{ tool: 'look' }] },
    { calls: [{ tool: 'pay', arguments: { amount: 30 } }] },
    { text: 'Paid.' },
  )
})

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}
const writeJson = (name: string, value: unknown) => write(name, JSON.stringify(value))

function configure(
  more: object = { policies: ['money.yaml'], people: { ann: ['Lead'], cem: ['Lead'], bob: [] } },
) {
  const input = { type: 'object', properties: { amount: {} } }
  const exec = [
    { name: 'look', risk: 'read', command: [process.execPath, 'note.mjs', 'look'] },
    { name: 'pay', command: [process.execPath, 'note.mjs', 'pay', '--amount={args.amount}'], input },
  ].map((tool) => ({ description: tool.name, ...tool }))
  writeJson('lockstep.config.json', { tools: { exec }, ...more })
}

function policy(terms: object = {}, more: object = {}): void {
  const entry = {
    id: 'leads',
    tool: 'pay',
    required_roles: ['Lead'],
    identity: ['local', 'asserted'],
    ...terms,
  }
  writeJson('money.yaml', { id: 'money', approvals: [entry], ...more })
}

const script = (...turns: object[]) => writeJson('script.yaml', { turns })
const log = () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '')
const lockstep = (...args: string[]) => runLockstep(args, { cwd: folder, env })
const start = (file = 'p.yaml', ...more: string[]) =>
  lockstep('run', file, '--mode', 'execute', '--model', 'scripted:script.yaml', ...more)

/** Begins a run that is held, and says which one, and what waits. */
async function held(file?: string, ...more: string[]) {
  const ended = await start(file, ...more)
  expect(ended.code, ended.out + ended.err).toBe(4)
  const next = /^Next: npx lockstep approve (a_[0-9a-f]{8}), then: npx lockstep resume (\S+)$/m.exec(
    ended.out,
  )
  expect(next, ended.out).not.toBeNull()
  return { ...ended, id: next![1]!, run: next![2]! }
}

describe('a run under a policy', () => {
  it('stops for approval, says everything about it, and goes on once it is given', async () => {
    const { out, id, run } = await held()
    expect(log()).toBe('look\n')
    expect(out).toContain('under money@1.0.0')
    expect(out).toMatch(/✗ pay +amount=30 {2}WAITS FOR APPROVAL: approvals\.leads/)
    expect(out).toContain(`Waits for approval: ${id}  pay amount=30`)
    expect(out).toContain('rule      approvals.leads of money@1.0.0: needs the approval of one person')
    expect(out).toContain(
      '1 × Lead, but not whoever asked, identified by local, asserted; could be: ann, cem',
    )
    expect(out).toMatch(/^ {2}time {6}59 min left$/m)

    const list = await lockstep('approvals')
    expect(list.code).toBe(0)
    expect(list.out).toMatch(new RegExp(`^${id} {2}pay +amount=30$`, 'm'))
    expect(list.out).toContain(`run ${run} · p · step pay`)
    expect(list.out).toMatch(new RegExp(`asked .* UTC by ${me} · 59 min left`))
    expect(list.out).toContain(`Next: npx lockstep approve ${id}\n`)
    const { approvals } = JSON.parse((await lockstep('approvals', '--json')).out) as { approvals: object[] }
    expect(approvals).toMatchObject([
      { id, run, playbook: 'p', tool: 'pay', args: { amount: 30 }, votes: [] },
    ])

    const waiting = await lockstep('resume', run)
    expect([waiting.code, log()]).toEqual([4, 'look\n'])
    expect(waiting.out).toContain(`pay (${id}) still waits for approval`)

    const said = await lockstep('approve', id.slice(0, 6), '--as', 'ann', '--reason', 'checked')
    expect(said.code, said.err).toBe(0)
    expect(said.out).toContain(
      'The call      pay, its arguments written by the model:\n                amount = 30\n',
    )
    expect(said.out).toMatch(/^The run so far\n.*✓ look /m)
    expect(said.out).toContain('ASSERTED: nobody checked that this is ann. For demonstrations only.')
    expect(said.out).toContain(
      `ann (asserted) approved pay (${id}): granted\nNext: npx lockstep resume ${run}\n`,
    )
    expect(log()).toBe('look\n')
    expect((await lockstep('approvals')).out).toMatch(
      /approved, waits for its run to be taken up[^]*ann \(ASSERTED, nobody checked\) approved: checked\nNext: npx lockstep resume/,
    )
    const twice = await lockstep('approve', id, '--as', 'cem')
    expect([twice.code, twice.err]).toEqual([
      1,
      expect.stringContaining(`pay (${id}) is approved already: ann`),
    ])

    const resumed = await lockstep('resume', run)
    expect(resumed.code, resumed.out + resumed.err).toBe(0)
    expect(resumed.out).toContain(`pay (${id}) is approved: ann (ASSERTED, nobody checked) approved: checked`)
    expect(log()).toBe('look\npay --amount=30\n')
    const late = await lockstep('approve', id, '--as', 'cem')
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('was approved and made already')])
    expect((await lockstep('approvals')).out).toBe('No call waits for approval.\n')
    const shown = await lockstep('show', run)
    expect(shown.out).toMatch(/pay +amount=30 {2}WAITS FOR APPROVAL · approvals\.leads of money@1\.0\.0/)
    expect(shown.out).toMatch(/ann \(ASSERTED, nobody checked\) approved: checked → granted/)
  })

  it('tells the model of a typed playbook that a person denied it, and why', async () => {
    const { id, run } = await held()
    const none = await lockstep('deny', id, '--as', 'ann')
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('deny needs --reason TEXT')])
    const said = await lockstep('deny', id, '--as', 'ann', '--reason', 'not ours')
    expect([said.code, said.out]).toEqual([0, expect.stringContaining(`denied pay (${id}): denied`)])
    const again = await lockstep('approve', id, '--as', 'cem')
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('was denied already: ann')])
    const resumed = await lockstep('resume', run)
    expect(resumed.code).toBe(1)
    expect(resumed.out).toContain('was denied: ann (ASSERTED, nobody checked) denied: not ours')
    const told = readRuns(join(folder, 'home')).findLast(({ type }) => type === 'tool.returned')
    expect(JSON.stringify(told)).toContain('ann denied it: not ours')
    expect(log()).toBe('look\n')
  })

  it('is taken up by recover with all others that have not ended, each as far as it goes', async () => {
    const [one, two] = [await held(), await held()]
    expect((await lockstep('approve', one.id, '--as', 'ann')).code).toBe(0)
    const { code, out } = await lockstep('recover')
    expect(code, out).toBe(4)
    expect(out).toContain(`${one.run} · taken up\n`)
    expect(out).toMatch(new RegExp(`^succeeded .*run ${one.run}$`, 'm'))
    expect(out).toContain(`then: npx lockstep resume ${two.run}\n`)
    expect(log()).toBe('look\nlook\npay --amount=30\n')
  })

  it('fails the step of a Markdown playbook with who denied it and why; approved, it goes on', async () => {
    write(
      'p.md',
      '# Desk\n\n## Main\n### Triggers\n- At the beginning\n### Steps\n- look()\n- pay(amount=30)\n',
    )
    const one = await held('p.md')
    expect((await lockstep('approve', one.id, '--as', 'ann')).out).toContain('worked out by the playbook')
    expect((await lockstep('resume', one.run)).code).toBe(0)
    expect(log()).toBe('look\npay --amount=30\n')
    const two = await held('p.md')
    const { code, out } = await lockstep('deny', two.id, '--as', 'cem', '--reason', 'once is enough')
    expect(code).toBe(0)
    expect(out).toMatch(/^The run has ended \(failed\): .*cem denied it: once is enough/m)
    expect(out).toContain(`Next: npx lockstep show ${two.run}\n`)
    const resumed = await lockstep('resume', two.run)
    expect([resumed.code, resumed.err]).toEqual([1, expect.stringContaining('has ended (failed)')])
    expect((await lockstep('show', two.run)).out).toMatch(
      /step Main\/2 failed.*: .*cem denied it: once is enough/,
    )
    expect(log()).toBe('look\npay --amount=30\nlook\n')
  })

  it('takes as many different persons as the policy says', async () => {
    policy({ count: 2 })
    const { id } = await held()
    for (const _ of [1, 2]) {
      const first = await lockstep('approve', id, '--as', 'ann')
      expect([first.code, first.out]).toEqual([
        4,
        expect.stringMatching(/: waiting\nStill takes 1 more with role Lead .*\nNext: .*by somebody else\n$/),
      ])
    }
    expect((await lockstep('approve', id, '--as', 'cem')).code).toBe(0)
  })

  it('shows in a dry run what would need approval, and goes on', async () => {
    const { code, out } = await lockstep('run', 'p.yaml', '--model', 'scripted:script.yaml')
    expect(code, out).toBe(0)
    expect(out).toContain(
      'would need approval: approvals.leads: needs the approval of one person with role Lead',
    )
    expect([log(), (await lockstep('approvals')).out]).toEqual(['', 'No call waits for approval.\n'])
  })

  it('holds, also in a dry run, a read that would really be made', async () => {
    configure({ policies: ['money.yaml'], dry_run: { call_reads: true } })
    policy({ tool: 'look' })
    const { code } = await lockstep('run', 'p.yaml', '--model', 'scripted:script.yaml')
    expect([code, log()]).toEqual([4, ''])
  })

  it('is judged again by the policies as they are when it is resumed', async () => {
    const { id, run } = await held()
    await lockstep('approve', id, '--as', 'ann')
    policy({}, { rules: [{ tool: 'pay', require: 'args.amount < 10', message: 'Too much.' }] })
    const { out } = await lockstep('resume', run)
    expect(out).toContain('DENIED policy: ')
    expect(log()).toBe('look\n')
  })

  it('does not go on without a policy that it was begun under', async () => {
    const { id, run } = await held('p.yaml', '--policy', 'money.yaml')
    configure({ people: { ann: ['Lead'] } })
    unlinkSync(join(folder, 'money.yaml'))
    expect((await lockstep('approve', id, '--as', 'ann')).code).toBe(0)
    const { code, err } = await lockstep('resume', run)
    expect([code, err]).toEqual([1, expect.stringContaining('File not found')])
    expect(log()).toBe('look\n')
  })

  it('is not begun under a policy with mistakes, which are told with their places', async () => {
    write('bad.yaml', 'id: bad\napprovals:\n  - { tool: pay, requird_roles: [Lead] }\n')
    const { code, out, err } = await start('p.yaml', '--policy', 'bad.yaml')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^bad\.yaml:3:18 error unknown_key[^]*did you mean `required_roles`\?/)
    expect((await start('p.yaml', '--policy', 'none.yaml')).err).toContain('File not found')
    expect(existsSync(join(folder, 'home', 'runs')) ? readdirSync(join(folder, 'home', 'runs')) : []).toEqual(
      [],
    )
  })

  it('says at its start that nobody can approve, and nothing where somebody can', async () => {
    expect((await held()).err).toBe('')
    configure({ policies: ['money.yaml'], people: { [me]: ['Lead'], bob: ['OnCall'] } })
    expect((await held()).err).toContain(
      'NOBODY CAN APPROVE: pay needs the approval of 1 × Lead (approvals.leads of money), and nobody in `people` could give it (whoever asks cannot approve).',
    )
    policy({}, { allow_self_approval: true })
    const { err, id } = await held()
    expect(err).toBe('')
    const said = await lockstep('approve', id)
    expect([said.code, said.out]).toEqual([
      0,
      expect.stringContaining(`${me} (local) approved pay (${id}): granted`),
    ])
    expect(said.out).not.toContain('ASSERTED')
  })
})

describe('lockstep approve', () => {
  it('counts nobody who asked, lacks the role, or whose name nobody checked where that matters', async () => {
    const { id } = await held()
    const own = await lockstep('approve', id)
    expect([own.code, own.err]).toEqual([1, expect.stringContaining('whoever asks cannot approve')])
    const bob = await lockstep('approve', id, '--as', 'bob')
    expect([bob.code, bob.err]).toEqual([1, expect.stringContaining('it takes the role Lead')])
    policy({ identity: ['local'] })
    const strict = await held()
    const ann = await lockstep('approve', strict.id, '--as', 'ann')
    expect([ann.code, ann.err]).toEqual([
      1,
      expect.stringContaining('an identity that is asserted does not count'),
    ])
  })

  it('comes too late after its time, and the run goes on without the call', async () => {
    policy({ expires_after: '4s' })
    const { id, run } = await held()
    await sleep(4_100)
    const late = await lockstep('approve', id, '--as', 'ann')
    expect([late.code, late.err]).toEqual([
      1,
      expect.stringMatching(/could be approved until .* UTC, and it is later/),
    ])
    expect((await lockstep('approvals')).out).toContain('its time ran out')
    const { code, out } = await lockstep('resume', run)
    expect([code, log()], out).toEqual([1, 'look\n'])
    expect((await lockstep('approvals')).out).toBe('No call waits for approval.\n')
  })

  it('writes nothing while another process is at work on the run, and goes by the playbook it was begun with', async () => {
    const { id, run } = await held()
    const home = join(folder, 'home')
    const store = new SqliteJournal(join(home, 'journal.db'), openKeyRing(join(home, 'keys')))
    await store.claim(run)
    const busy = await lockstep('approve', id, '--as', 'ann')
    expect([busy.code, busy.err]).toEqual([
      1,
      expect.stringContaining(`Run ${run} is being written to by process ${process.pid}`),
    ])
    await store.close()
    const before = readFileSync(join(folder, 'p.yaml'), 'utf8')
    write('p.yaml', before.replace('"look"', '"lok"'))
    const changed = await lockstep('approve', id, '--as', 'ann')
    expect([changed.code, changed.err]).toEqual([
      0,
      expect.stringContaining('keeps the playbook it was begun with'),
    ])
  })

  it('shows what a model wrote as such, and lets none of it speak to the terminal', async () => {
    script(
      { calls: [{ tool: 'look' }] },
      {
        text: 'Approved by ann.\u001b[2J\u202e',
        calls: [{ tool: 'pay', arguments: { amount: '30\u001b[31m\u202e\nIt takes nobody' } }],
      },
    )
    const { id } = await held()
    const { out } = await lockstep('approve', id, '--as', 'bob')
    // oxlint-disable-next-line no-control-regex -- finding them is the point
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(out).toContain('the model wrote: Approved by ann.\\u001b[2J\\u202e')
    expect(out).toMatch(/^ {16}amount = "30\\u001b\[31m\\u202e\\nIt takes nobody"$/m)
    expect(out).not.toMatch(/^It takes nobody/m)
  })

  it('says in red that a name was not checked', async () => {
    const { id } = await held()
    vi.stubEnv('LOCKSTEP_HOME', env['LOCKSTEP_HOME']!)
    let out = ''
    const terminal = { out: (text: string) => void (out += text), err: () => undefined, colour: true }
    expect(await approveCommand.run([id, '--as', 'ann'], terminal)).toBe(0)
    expect(out).toContain(
      '\u001b[31mASSERTED: nobody checked that this is ann. For demonstrations only.\u001b[39m',
    )
  })

  it('works on a run, which still verifies', async () => {
    const { id, run } = await held()
    expect((await lockstep('approve', id, '--as', 'ann')).code).toBe(0)
    expect((await lockstep('resume', run)).code).toBe(0)
    expect(log()).toBe('look\npay --amount=30\n')
    const verified = await lockstep('verify', run)
    expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('consistent')])
  })

  it.each([
    [['approve'], /approve takes one approval/],
    [['approve', 'a_1', 'a_2'], /approve takes one approval/],
    [['approve', 'a_none'], /there is no approval a_none/],
    [['approve', 'a_1', '--args', '{}'], /unknown option --args/],
    [['approve', 'a_1', '--all'], /unknown option --all/],
    [['deny', 'a_1', '--escalate'], /unknown option --escalate/],
    [['approvals', 'a_1'], /approvals takes no names/],
  ])('answers %j with exit code 2', async (args, message) => {
    const { code, err } = await runHere(args, { cwd: folder, env })
    expect([code, err]).toEqual([2, expect.stringMatching(message)])
  })

  it('reports an id that could be either', async () => {
    const [one, two] = [await held(), await held()]
    const { code, err } = await lockstep('approve', 'a_', '--as', 'ann')
    expect([code, err]).toEqual([2, expect.stringContaining('2 approvals begin with a_')])
    expect(err).toContain(one.id)
    expect(err).toContain(two.id)
  })
})
