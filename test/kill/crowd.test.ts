/** Many runs of one engine share their commits. The power fails in the middle of all of them, and the next engine takes every one of them up. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { agentWork } from '../../src/engine/agent-work.ts'
import { EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts'
import { exportChains } from '../../src/journal/export-chains.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { verifyExport } from '../../src/proof/verify-export.ts'
import { tool } from '../../src/tool/tool.ts'
import { verifySignature } from '../record/export-of.ts'
import { beforeAppends } from './in-world.ts'
import { openStore } from './work-on.ts'
import { scratch } from './scratch.ts'

const playbook = definePlaybook({
  id: 'three',
  name: 'Three',
  onFailure: 'compensate',
  steps: ['one', 'two', 'three'].map((id) => ({ id, tool: 'act', input: { at: id } })),
})

/** A world in which things are done once for each time they are asked for, and that can be asked what was done. */
function world() {
  const done: string[] = []
  const act = tool({
    name: 'act',
    description: 'Acts on a place that runs share.',
    risk: 'write',
    target: ({ at }) => `place/${String(at)}`,
    execute: async (_, { idempotencyKey }) => {
      await sleep(1)
      done.push(idempotencyKey)
    },
    reconcile: (key) => ({ outcome: done.includes(key) ? 'succeeded' : 'failed' }),
  })
  return { done, act }
}

test('all of them end, each call was made once, and the record of all is whole', async () => {
  const runs = Array.from({ length: 40 }, (_, index) => `r${index}`)
  const open: number[] = []
  for (const cut of [1, 45, 110]) {
    const folder = scratch()
    const { done, act } = world()
    const begin = async (last: number) => {
      let appends = 0
      const own = openStore(folder)
      // From then on nothing reaches the disk.
      const store = beforeAppends(() => {
        if (++appends > last) throw new Error('the power is off')
      })(own)
      const work = (run: string) => agentWork(agent, run, { prompt: '' })
      const engine: EmbeddedEngine = await EmbeddedEngine.open({ store, load: async (run) => work(run) })
      const agent = new Agent({ model: 'none', playbook, tools: [act], journal: engine.journal })
      return { own, engine, work }
    }
    const first = await begin(cut)
    const rests = runs.map((run) => first.engine.start(run, first.work(run)))
    await Promise.race([Promise.all(rests), sleep(400)])
    await first.engine.close({ graceMs: 50 })
    await first.own.close()

    const second = await begin(Infinity)
    const begun = await second.own.runs()
    const left = await second.own.openRuns()
    expect(await second.engine.recover()).toBe(left.length)
    open.push(left.length)
    // What the power cut left no trace of was not begun.
    const others = runs.filter((run) => !begun.includes(run))
    await Promise.all(others.map((run) => second.engine.start(run, second.work(run))))
    while ((await second.own.openRuns()).length > 0) await sleep(5)
    expect(done.toSorted()).toEqual(
      runs.flatMap((run) => ['one', 'two', 'three'].map((step) => `${run}/${step}`)).toSorted(),
    )
    const lines = await exportChains(second.own, await second.own.runs(), { tenants: ['local'] })
    const { verdict, findings, runs: counted } = verifyExport(lines, { verifySignature })
    expect({ verdict, findings }).toEqual({ verdict: 'consistent', findings: [] })
    expect(counted).toMatchObject({ opened: runs.length, closed: runs.length, missing: [] })
    expect(await second.own.locks('local')).toEqual([])
    await second.engine.close()
    await second.own.close()
  }
  expect(open.filter((count) => count > 0).length).toBeGreaterThan(1)
}, 120_000)
