import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { checkPolicies } from './policy-check.ts'
import { explainPolicies } from './policy-explain.ts'
import { testPolicies } from './policy-test.ts'
import { unknown } from './read-flags.ts'

const help = `Usage: lockstep policy check FILE|DIRECTORY... [--config FILE] [--format pretty|unix|json|github]
       lockstep policy test CASES|DIRECTORY...
       lockstep policy explain FILE... --call TOOL [--args JSON] [--role ROLE]... [--at TIME] [...]

Checks policies, tests them with cases, and explains what they say to a call. No tool is called.

check     shows every problem of policies with its place and what to do about it
  --config FILE     a configuration: a policy may then speak of no other tools
  --format FORMAT   pretty (the default), unix, json or github

test      decides the cases in YAML files and compares; what differs is shown with the explanation

explain   decides one call and says of every rule why it spoke or not; with several files all of them apply
  --call TOOL           the tool
  --args JSON           its arguments, {} when absent
  --step STEP           the step it belongs to
  --risk RISK           read, write or irreversible; irreversible when absent
  --target TARGET       what it acts on
  --role ROLE           a role of the asker; may stand often
  --principal NAME      who asks
  --at TIME             when, such as 2026-11-16T09:00:00Z; now when absent
  --context JSON        the context of the run
  --inputs JSON         the inputs of the run
  --mode MODE           execute (the default) or dry-run
  --break-glass REASON  the glass is broken, and why
  --facts FILE          more facts, as in cases: past, counters, spent
  --json                one JSON document, for programs

Exit codes: 0 no errors, every case as expected, or the call is allowed; 1 errors, a case that differs, or the call is
denied; 2 wrong usage; 4 the call needs approval.

Examples:
  lockstep policy check policies
  lockstep policy test policies/production.cases.yaml
  lockstep policy explain policies/production.yaml --call k8s.drain_node --args '{"node":"n7"}' --role SRE
`

const commands = { check: checkPolicies, test: testPolicies, explain: explainPolicies } as const

/** `lockstep policy`: checks, tests and explains policies. */
export const policyCommand: Command = {
  help,
  async run([name, ...args], terminal) {
    if (name === undefined) {
      throw new LockstepError('usage', 'policy needs a word more: check, test or explain')
    }
    if (!Object.hasOwn(commands, name)) throw unknown('word after policy:', name, Object.keys(commands))
    return await commands[name as keyof typeof commands](args, terminal)
  },
}
