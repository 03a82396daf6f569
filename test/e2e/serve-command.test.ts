import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runLockstep } from './run-lockstep.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-serve-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.skipIf(process.platform === 'win32')(
  'serves where .env says, and ends as asked with everything in order',
  async () => {
    writeFileSync(join(folder, '.env'), 'LOCKSTEP_HOME=./data\nLOCKSTEP_PORT=0\nLOCKSTEP_LOG_LEVEL=info\n')
    const env = { LOCKSTEP_HOME: '', LOCKSTEP_PORT: '' }
    let asked: Promise<unknown> | null = null
    const { code, out, err } = await runLockstep(['serve'], {
      cwd: folder,
      env,
      onOutput(said, child) {
        const [, url] = /serves (http:\S+)\n[\s\S]*Ctrl-C ends it\.\n/.exec(said) ?? []
        if (url === undefined || asked !== null) return
        asked = fetch(`${url}/healthz?token=hush`, { headers: { authorization: 'Bearer hush' } })
          .then((answer) => answer.json())
          .finally(() => child.kill('SIGTERM'))
      },
    })
    expect(await asked).toEqual({ ok: true })
    expect(code).toBe(0)
    expect(out).toContain(`Data folder: ${join(folder, 'data')}`)
    expect(out).toMatch(/admin@local +http:\/\/localhost:\d+\/console\/sign-in#token=lnk_/)
    expect(out).toMatch(/A sample run waits for the approver: r_/)
    expect(out).toContain('Ended.')
    // The log has the request, and neither its header nor what stood behind the question mark.
    expect(err).toMatch(/"path":"\/healthz"/)
    expect(err).not.toContain('hush')
  },
)
