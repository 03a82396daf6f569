import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTools } from '../../src/app.ts'
import { checkCommand } from '../../src/cli/check-command.ts'
import { practiceCommand } from '../../src/cli/practice-command.ts'
import { checkConfig } from '../../src/source/config-check.ts'
import { lockstepProgram } from '../built-programs.ts'

const home = mkdtempSync(join(tmpdir(), 'lockstep-practice-'))
const before = process.env['LOCKSTEP_HOME']

beforeAll(() => {
  process.env['LOCKSTEP_HOME'] = home
})
afterAll(() => {
  if (before === undefined) delete process.env['LOCKSTEP_HOME']
  else process.env['LOCKSTEP_HOME'] = before
  delete process.env['LOCKSTEP_PRACTICE_URL']
  rmSync(home, { recursive: true, force: true })
})

async function lockstep(...args: string[]): Promise<string> {
  let said = ''
  const terminal = {
    out: (text: string) => (said += text),
    err: (text: string) => (said += text),
    colour: false,
  }
  await practiceCommand.run(args, terminal)
  return said
}

async function openPractice() {
  const { config } = checkConfig({ practice: true }, { spelling: 'file', folder: home, file: null })
  const { tools, close } = await openTools(config)
  const context = { signal: new AbortController().signal, idempotencyKey: 'r_1/cordon' }
  return {
    close,
    names: tools.map(({ tool }) => tool.name),
    call: async (name: string, args: Record<string, string>) =>
      await tools.find(({ tool }) => tool.name === name)!.tool.execute(args, context),
  }
}

describe('lockstep practice', () => {
  it('shows what the tools of a configuration did, and puts it back', async () => {
    expect(await lockstep('show')).toMatch(/^PRACTICE: nothing here is real\./)
    const practice = await openPractice()
    expect(practice.names).toContain('practice.rollback')
    expect(await practice.call('practice.cordon_node', { node: 'node-7' })).toMatchObject({ practice: true })
    await practice.close()
    expect(await lockstep('show')).toMatch(
      /node-7 +yes +no +web-3, api-4[\s\S]*1 effects:[\s\S]*r_1\/cordon +yes/,
    )
    await lockstep('reset')
    expect(await lockstep('show')).toMatch(/node-7 +no[\s\S]*Nothing was done yet/)
    expect(JSON.parse(await lockstep('show', '--json'))).toMatchObject({ effects: [], services: [{}, {}] })
  })

  it('serves one for several processes, which LOCKSTEP_PRACTICE_URL leads to', async () => {
    const child = spawn(process.execPath, [lockstepProgram, 'practice'], {
      env: { ...process.env, LOCKSTEP_HOME: join(home, 'other') },
    })
    const [said] = (await once(child.stdout, 'data')) as [Buffer]
    process.env['LOCKSTEP_PRACTICE_URL'] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(said))![0]
    const practice = await openPractice()
    expect(await practice.call('practice.restart_service', { service: 'web' })).toMatchObject({ restarts: 1 })
    await practice.close()
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    // The one of this home was not touched.
    expect(await lockstep('show')).toContain('Nothing was done yet')
    process.env['LOCKSTEP_PRACTICE_URL'] = 'nonsense'
    await expect(openPractice()).rejects.toThrow(expect.objectContaining({ code: 'invalid_value' }) as Error)
    delete process.env['LOCKSTEP_PRACTICE_URL']
  })

  it('is known to lockstep check, which calls nothing', async () => {
    const file = join(home, 'book.yaml')
    writeFileSync(join(home, 'lockstep.config.yaml'), 'practice: true\n')
    writeFileSync(file, 'name: a\nsteps: [{ name: x, tool: practice.cordon_node, input: { nod: node-7 } }]\n')
    let said = ''
    const out = (text: string) => void (said += text)
    expect(await checkCommand.run([file], { out, err: out, colour: false })).toBe(1)
    expect(said).toContain('`practice.cordon_node` takes no argument `nod`')
  })

  it('resets a file that is broken, and says what is wrong with the call otherwise', async () => {
    process.env['LOCKSTEP_HOME'] = join(home, 'broken')
    mkdirSync(join(home, 'broken', 'practice'), { recursive: true })
    writeFileSync(join(home, 'broken', 'practice', 'practice.db'), 'x'.repeat(5000))
    await expect(lockstep('show')).rejects.toThrow(
      expect.objectContaining({ code: 'practice_unavailable' }) as Error,
    )
    await lockstep('reset')
    expect(await lockstep('show')).toContain('node-9')
    process.env['LOCKSTEP_HOME'] = home
    for (const args of [['sho'], ['show', 'more'], ['--port', '70000'], ['--port', 'x']]) {
      await expect(lockstep(...args)).rejects.toThrow(expect.objectContaining({ code: 'usage' }) as Error)
    }
  })
})
