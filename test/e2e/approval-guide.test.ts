import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runLockstep } from './run-lockstep.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-guide-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const cwd = new URL('../..', import.meta.url).pathname
const guide = readFileSync(join(cwd, 'docs/guide/approvals.md'), 'utf8')
const policy = ['--policy', 'examples/policies/refunds.yaml', '--mode', 'execute']

function world(name: string) {
  const log = join(folder, `${name}.log`)
  const env = { LOCKSTEP_HOME: join(folder, name), DESK_LOG: log }
  const lockstep = (args: readonly string[], stdin?: string) =>
    runLockstep(args, { cwd, env, ...(stdin === undefined ? {} : { stdin }) })
  return { lockstep, log: () => readFileSync(log, 'utf8') }
}

it('the commands of the guide lead from the stop to the end', async () => {
  const commands = [...guide.matchAll(/^\$ npx lockstep (.*)$/gm)].map(([, line]) =>
    [...line!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!),
  )
  expect(commands.map(([name]) => name)).toEqual(['run', 'approve', 'resume'])
  const { lockstep, log } = world('typed')
  let [approval, run] = ['', '']
  const codes: (number | null)[] = []
  let last = ''
  for (const command of commands) {
    const { code, out, err } = await lockstep(
      command.map((word) => word.replace('a_3f2b91c0', approval).replace('r_2b1f0c4e', run)),
    )
    codes.push(code)
    last = out + err
    if (command[0] !== 'run') continue
    approval = /a_[0-9a-f]{8}/.exec(out)![0]
    run = /r_[0-9a-f-]{36}/.exec(out)![0]
    // What the guide shows of the output is what there is to see.
    const shown = /```\n\$ npx lockstep run [^]*?```/.exec(guide)![0].split('\n').slice(3, -1)
    const masked = out.replaceAll(approval, 'a_3f2b91c0').replaceAll(run, 'r_2b1f0c4e')
    for (const line of shown) expect(masked.replaceAll(/1[12]\d min/g, '119 min')).toContain(`${line}\n`)
  }
  expect(codes, last).toEqual([4, 0, 0])
  expect(log()).toBe('refunded ORD-42 30\ntold C-7: We have refunded $30.\n')
})

it('the Markdown playbook of the guide stops for a large order', async () => {
  const { lockstep, log } = world('markdown')
  const held = await lockstep(['run', 'examples/refund.md', ...policy], 'ORD-77\n')
  expect(held.code, held.out + held.err).toBe(4)
  const [, id, run] = /approve (\S+), then: npx lockstep resume (\S+)/.exec(held.out)!
  expect((await lockstep(['approve', id!, '--as', 'ann'])).code).toBe(0)
  await lockstep(['resume', run!], '')
  expect(log()).toBe('handed over ORD-77: The total is over 500\n')
})
