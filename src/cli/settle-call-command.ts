import { resolve } from 'node:path'
import { openJournalOf } from '../app.ts'
import { settleCall, type Settlement } from '../mcp/settle-call.ts'
import type { Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'
import { loadPlaybook } from '../source/load-playbook.ts'
import type { Command } from './command.ts'
import { exitCode } from './exit-code.ts'
import { localUser } from './local-user.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'

const help = `Usage: lockstep mcp settle RUN CALL=succeeded|failed --playbook FILE [OPTIONS]

Writes down what a person found out about a call of lockstep mcp whose outcome nobody knew. Nothing is called, and the gateway must have
let go of the run: end it, settle the call, and start it again with --run. The beginning of the call's id is enough.

Options:
  --playbook FILE    the playbook of the run
  --result JSON      what the call returned, if it succeeded
  --data DIRECTORY   where runs are recorded, instead of LOCKSTEP_HOME or the user's data folder

Examples:
  lockstep mcp settle case-1 4f1c=succeeded --playbook refund.yaml --result '{"receipt": 7}'
  lockstep mcp settle case-1 4f1c=failed --playbook refund.yaml
`

const rules = {
  playbook: { value: 'FILE' },
  result: { value: 'JSON' },
  data: { value: 'DIRECTORY' },
} as const

/** `lockstep mcp settle`: what became of a call of a gateway. */
export const settleCallCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, rules)
    const [run, said, ...more] = names
    const file = flags.get('playbook')
    if (run === undefined || said === undefined || more.length > 0)
      throw new LockstepError('usage', 'mcp settle takes a run and one CALL=succeeded or CALL=failed')
    if (file === undefined) throw new LockstepError('usage', 'mcp settle needs --playbook FILE')
    const settlement: Settlement = { run, ...readSettlement(said, flags.get('result')) }
    const playbook = loadPlaybook(resolve(file))
    const data = flags.get('data')
    const journal = await openJournalOf(data === undefined ? runFolder() : resolve(data, 'runs'), run)
    try {
      const author = { tenant: 'local', principal: localUser({}).id }
      const { callId, tool } = await settleCall(settlement, { ...author, playbook, journal })
      terminal.out(
        `${tool} (${callId}) of run ${run}: ${settlement.outcome.outcome}. Go on with lockstep mcp --run ${run}.\n`,
      )
    } finally {
      await journal.close()
    }
    return exitCode.done
  },
}

function readSettlement(said: string, result: string | undefined): Omit<Settlement, 'run'> {
  const at = said.lastIndexOf('=')
  const [call, outcome] = [said.slice(0, Math.max(0, at)), said.slice(at + 1)]
  if (call === '' || (outcome !== 'succeeded' && outcome !== 'failed')) {
    const nearest = nearestName(outcome, ['succeeded', 'failed'])
    throw new LockstepError('usage', `mcp settle needs CALL=succeeded or CALL=failed, not ${said}`, {
      hint: call === '' || nearest === null ? null : `did you mean ${call}=${nearest}?`,
    })
  }
  if (outcome === 'failed') {
    if (result !== undefined) throw new LockstepError('usage', '--result goes with CALL=succeeded')
    return { call, outcome: { outcome, error: 'a person found out that it did not happen' } }
  }
  return { call, outcome: { outcome, ...(result === undefined ? {} : { result: readJson(result) }) } }
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new LockstepError('usage', `--result must be JSON, not ${text}`, {
      hint: `text is JSON in quotation marks: '"done"'`,
    })
  }
}
