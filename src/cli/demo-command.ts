import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { LockstepError } from '../shared/lockstep-error.ts'
import { loadPlaybook } from '../source/load-playbook.ts'
import { playDemo } from './demo-play.ts'
import { DemoRun } from './demo-run.ts'
import { behavingAgent, describeDemoCall, straying, type DemoMove } from './demo-script.ts'
import { RunView, type RunScreen } from './run-view.ts'
import { readFlags } from './read-flags.ts'

const playbookFile = new URL('../../examples/refund-desk.yaml', import.meta.url)

/** Shows what Lockstep does, in seconds: an agent that keeps to a refund playbook, and one that does not. */
export async function runDemo(args: readonly string[]): Promise<number> {
  const { names, flags } = readFlags(args, { play: 'switch' })
  if (names.length > 0) throw new LockstepError('usage', `demo takes no ${names[0]}`)
  const play = flags.has('play')
  const live = process.stdout.isTTY === true
  const screen: RunScreen = {
    write: (text) => process.stdout.write(text),
    live,
    colour: live && process.env['NO_COLOR'] === undefined,
  }
  const view = new RunView(screen, describeDemoCall)
  const playbook = loadPlaybook(playbookFile)
  const agent = play ? 'you are the agent' : 'scripted agents'
  view.text(`Refund playbook · ${playbook.steps.length} steps · ${agent} · no key, no network`)

  if (play) {
    const run = new DemoRun(playbook, view)
    await playDemo(run, view, process.stdin, live)
    run.close()
    return run.enforcer.status === 'succeeded' ? 0 : 1
  }
  const acts: readonly [string, readonly DemoMove[]][] = [
    ['An agent that keeps to it', behavingAgent],
    ['An agent that tries to get around it', straying],
  ]
  for (const [title, moves] of acts) {
    view.heading(title)
    const run = new DemoRun(playbook, view)
    for (const move of moves) {
      if (live) await sleep(250)
      await run.make(move)
    }
    run.close()
  }
  if (existsSync(playbookFile)) view.text('\nThe playbook: examples/refund-desk.yaml')
  view.text('Next: npx lockstep demo --play')
  return 0
}
