import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { runHere } from './run-here.ts'
import { runLockstep } from './run-lockstep.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'lockstep-markdown-'))
afterAll(() => rmSync(home, { recursive: true }))

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(home, 'case-'))
  copyFileSync(join(root, 'examples/lockstep.config.yaml'), join(folder, 'lockstep.config.yaml'))
})

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return name
}

const start = (args: string[], stdin = '') => runLockstep(args, { cwd: folder, stdin })
const reading = ['check', 'explain', 'fmt']
const run = (args: string[], stdin = '') =>
  reading.includes(args[0]!) ? runHere(args, { cwd: folder }) : start(args, stdin)

const typos = `## Refund

### Stepps
- Say "hello"

## Other

### Steps
- Ask user for $order_id
- $order = lookup_ordr($order_id)
- Otherwse
`

const bank = `## Main

### Steps
- Ask user for $email
- Load the account of the user
- Greet them

## Load account($email)

### Steps
- Return $email
`

describe('lockstep explain', () => {
  it('reads the example back from the folder above it, and says how to try it', async () => {
    const { code, out } = await runLockstep(['explain', 'examples/refund.md'], { cwd: root })
    expect(code).toBe(0)
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^ 1 Ask for the order number\. +asks a person$/)
    expect(out).toMatch(
      /^ 2 Call lookup_order with order_id = the order number, .* guaranteed · lookup_order$/m,
    )
    expect(out).toMatch(/^ 3 If the order's total is over 500, call hand_over .* guaranteed · hand_over$/m)
    expect(out).toMatch(/^ 4 Tell the customer .* left to the model · no tools$/m)
    expect(out).toContain(
      '3 of 4 steps need no model. Try it yourself, no key:\n  npx lockstep run examples/refund.md --model me\n',
    )
    expect(out).toContain('hand_over is refused unless')
  })

  it('gives programs all of it, and pages a chart', async () => {
    const { out } = await runHere(['explain', 'examples/returns.md', '--json'], { cwd: root })
    expect(JSON.parse(out)).toMatchObject({
      name: 'Returns desk',
      steps: { total: 17 },
      modelCalls: { limit: null },
    })
    const chart = await runHere(['explain', 'examples/refund-desk.yaml', '--mermaid'], { cwd: root })
    expect([chart.code, chart.out.split('\n')[0]]).toEqual([0, 'flowchart TD'])
  })

  it('shows every mistake with its place, and explains nothing then', async () => {
    const { code, out, err } = await run(['explain', write('typos.md', typos)])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('did you mean `### Steps`?')
    expect(err).toContain('did you mean `lookup_order`?')
    expect(err).toContain('did you mean `Otherwise`?')
  })

  it('refuses an ordinary document, a file that is not there, and wrong usage', async () => {
    expect((await run(['explain', write('a.md', '# Notes\n\nSome prose.\n')])).err).toContain(
      'ordinary document',
    )
    expect((await run(['explain', 'none.md'])).err).toContain('File not found: none.md')
    expect((await run(['explain', 'a.md', '--json', '--mermaid'])).code).toBe(2)
    expect((await run(['explain'])).code).toBe(2)
  })
})

describe('lockstep check on Markdown', () => {
  it('reports in the style of the other forms, and in their formats', async () => {
    const { code, out } = await run(['check', write('typos.md', typos)])
    expect(code).toBe(1)
    expect(out).toContain('typos.md:3:5 error unknown_heading')
    expect(out).toContain('3 | ### Stepps\n')
    expect(out).toMatch(/1 playbook checked, 3 errors, \d+ warnings?\n$/)
    const unix = await run(['check', 'typos.md', '--format', 'unix'])
    expect(unix.out).toMatch(/^typos\.md:3:5: error unknown_heading /)
  })

  it('counts and skips ordinary documents in a directory, and refuses one that is named', async () => {
    mkdirSync(join(folder, 'all'))
    write('all/typos.md', typos)
    write('all/bank.md', bank)
    write('all/README.md', '# Read me\n\nText.\n')
    write('all/bank.md.lock.yaml', 'version: 1\nsteps: []\n')
    const { code, out } = await run(['check', 'all'])
    expect(code).toBe(1)
    expect(out).toMatch(
      /2 playbooks checked \(1 with errors\), 3 errors, \d+ warnings?; 1 ordinary document skipped\n$/,
    )
    const named = await run(['check', 'all/README.md'])
    expect([named.code, named.out.includes('ordinary_document')]).toEqual([1, true])
  })
})

describe('lockstep fmt', () => {
  it('names files that are not in the usual form, writes them, and is content then', async () => {
    const text = '## Main\n### steps\n* if $x > 1\n    * say "a"\n* $x = 2\n'
    write('a.md', text)
    const checked = await run(['fmt', 'a.md', '--check'])
    expect([checked.code, checked.out]).toEqual([1, 'a.md\n1 not in the usual form, 0 unchanged\n'])
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe(text)
    expect((await start(['fmt', '.'])).code).toBe(0)
    const formatted = '## Main\n\n### Steps\n- If $x > 1\n  - Say "a"\n- $x = 2\n'
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe(formatted)
    expect((await run(['fmt', 'a.md', '--check'])).out).toBe('0 not in the usual form, 1 unchanged\n')
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('leaves files with errors, ordinary documents and other forms alone', async () => {
    for (const [name, text] of [
      ['typos.md', typos],
      ['prose.md', '#  Notes  \n\n\n\nText.\n'],
    ] as const) {
      write(name, text)
      expect((await run(['fmt', name])).code).toBe(1)
      expect(readFileSync(join(folder, name), 'utf8')).toBe(text)
    }
    const { code, err } = await run(['fmt', 'lockstep.config.yaml'])
    expect([code, err]).toEqual([2, expect.stringContaining('fmt formats Markdown playbooks (.md, .pb)')])
  })
})

describe('lockstep lock', () => {
  it('keeps what a person says, so that the step is guaranteed; until the bullet changes', async () => {
    write('bank.md', bank)
    const { code, out } = await run(['lock', 'bank.md', '--model', 'me'], 'LoadAccount($email)\n')
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('Load the account of the user → LoadAccount($email)'),
    ])
    expect(readFileSync(join(folder, 'bank.md.lock.yaml'), 'utf8')).toContain('call: "LoadAccount($email)"')
    expect((await run(['explain', 'bank.md'])).out).toMatch(
      / 2 Run Load account with email = the email\. +guaranteed/,
    )
    expect((await run(['lock', 'bank.md', '--model', 'me'])).out).toBe('There is nothing to settle.\n')
    write('bank.md', bank.replace('Load the account', 'Load this account'))
    expect((await run(['check', 'bank.md'])).out).toContain('warning stale_resolution')
  })

  it('refuses what is no call, reads what is not there, or calls what there is not, and writes nothing', async () => {
    write('bank.md', bank)
    for (const answer of [
      'LoadAccount($nope)',
      'Nothing($email)',
      'LoadAccount()',
      'End program',
      '"LoadAccount"',
    ]) {
      const { code, out } = await run(['lock', 'bank.md', '--model', 'me'], `${answer}\n`)
      expect([answer, code, out.includes('refused')]).toEqual([answer, 1, true])
    }
    expect(existsSync(join(folder, 'bank.md.lock.yaml'))).toBe(false)
  })

  it('lets no model settle what cannot be undone', async () => {
    write('pay.md', '## Main\n\n### Steps\n- Ask user for $order_id\n- Do the refund of the order now\n')
    const call = 'refund(order_id=$order_id, customer_id="C-7", amount=1)'
    write('script.yaml', `turns:\n  - extract: { call: '${call}' }\n`)
    const { code, out } = await run(['lock', 'pay.md', '--all', '--model', 'scripted:script.yaml'])
    expect([code, out]).toEqual([1, expect.stringContaining('is settled by a person')])
    const person = await run(['lock', 'pay.md', '--all', '--model', 'me'], `${call}\n`)
    expect(person.code).toBe(0)
  })

  it('checks an entry that was edited by hand like any other', async () => {
    write('bank.md', bank)
    await run(['lock', 'bank.md', '--model', 'me'], 'LoadAccount($email)\n')
    const lock = readFileSync(join(folder, 'bank.md.lock.yaml'), 'utf8')
    write('bank.md.lock.yaml', lock.replace('$email)', '$other)'))
    const { code, out } = await run(['check', 'bank.md'])
    expect([code, out]).toEqual([1, expect.stringContaining('nothing sets `$other`')])
  })
})

describe('parameters as flags', () => {
  const colliding = `## Main($mode, $model="x", $v=1, $order_id="q", $orderNo="a", $order_no="b")

### Steps
- Say "$mode $model $v $order_id $orderNo $order_no"
`

  it('never lets an option set a parameter, and says how to give one that is spelled like it', async () => {
    const file = write('flags.md', colliding)
    const given = ['--input', 'mode=fast', '--model', 'me', '--order-id', 'O1', '--input', 'orderNo=c']
    expect((await run(['run', file, ...given])).out).toContain('fast x 1 O1 c b\n')
    for (const args of [
      ['--mode', 'fast'],
      ['--v', '5', '--input', 'mode=m'],
      ['--order-no', '7', '--input', 'mode=m'],
    ]) {
      const { code, err } = await run(['run', file, ...args])
      expect([args[0], code, err]).toEqual([args[0], 2, expect.stringMatching(/is given with --input \w+=/)])
    }
  })

  it('lists them in the help with the way in which they are given', async () => {
    const { out } = await run(['run', write('flags.md', colliding), '--help'])
    expect(out).toMatch(/^ {2}--input mode=ANY {3}required; --mode means something else$/m)
    expect(out).toMatch(/^ {2}--order-id \w+ {3}default "q"$/m)
    expect(out).toMatch(/^ {2}--input order_no=.*--order-no means something else$/m)
  })
})

describe('a program that fails', () => {
  it('says in which line and what helps, once, however many bullets it takes down', async () => {
    const file = write(
      'fails.md',
      `## Main($n:int)

### Steps
- If $n > 5
  - $x = 3
- Twice($n)

## Twice($n)

### Steps
- If $n > 0
  - Say "{$x + 1}"
`,
    )
    const { code, out } = await run(['run', file, '--n', '1'])
    expect(code).toBe(1)
    expect(out.match(/FAILED/g)).toHaveLength(1)
    expect(out).toMatch(/FAILED: `\$x` is missing \(fails\.md:12\)$/m)
    expect(out).toMatch(/^Why: fails\.md:12: Main\/2: Twice\/1\.1: `\$x` is missing$/m)
    expect(out).toMatch(/^Help: set \$x in a step before this one/m)
    const last = (await run(['run', file, '--n', '1', '--json'])).out.trim().split('\n').at(-1)!
    expect(JSON.parse(last)).toMatchObject({ place: 'fails.md:12', help: expect.stringContaining('default') })
  })

  it('names a playbook that calls itself once', async () => {
    const file = write(
      'endless.md',
      '## Main\n\n### Steps\n- Again(1)\n\n## Again($n)\n\n### Steps\n- Again($n + 1)\n',
    )
    const { out } = await run(['run', file])
    expect(out.match(/FAILED/g)).toHaveLength(1)
    expect(out).toMatch(
      /^Why: endless\.md:9: Main\/1: Again\/1: playbooks call each other more than 64 deep/m,
    )
  })
})

describe('input that ends early', () => {
  it.each([
    ['at a question to the person', '- Ask user for $order_id\n- Say "$order_id"', 'none'],
    ['at a question to whoever is the model', '- Greet the user warmly', 'me'],
  ])('puts the run down for more, %s', async (_, steps, model) => {
    const file = write('early.md', `## Main\n\n### Steps\n${steps}\n`)
    const { code, out } = await run(['run', file, '--model', model])
    expect([code, out]).toEqual([3, expect.stringContaining('Why: the input ended before the run did\n')])
  })
})
