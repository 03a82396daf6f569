import { parseFacts } from '../policy/parse-facts.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { describeExplanation, explain } from '../policy/explain.ts'
import type { FactsFile } from '../policy/policy-case-schema.ts'
import {
  policyModes,
  risks,
  type PolicyMode,
  type PolicyRequest,
  type Risk,
} from '../policy/policy-request.ts'
import { readFacts } from '../policy/read-facts.ts'
import { readInstant } from '../policy/read-instant.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { readSourceFile } from '../source/read-source-file.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { readPolicyFile, showProblems } from './policy-file.ts'
import { readFlags, type Flags } from './read-flags.ts'
import type { Terminal } from './terminal.ts'

const codes = {
  allow: exitCode.done,
  needs_approval: exitCode.waitsForApproval,
  deny: exitCode.failed,
} as const

/** `lockstep policy explain`: decides one call and says of every rule why it spoke or not. */
export async function explainPolicies(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const { names, flags, lists } = readFlags(args, {
    call: { value: 'TOOL' },
    args: { value: 'JSON' },
    step: { value: 'STEP' },
    risk: { values: risks },
    target: { value: 'TARGET' },
    role: { value: 'ROLE', often: true },
    principal: { value: 'NAME' },
    at: { value: 'TIME' },
    context: { value: 'JSON' },
    inputs: { value: 'JSON' },
    mode: { values: policyModes },
    'break-glass': { value: 'REASON' },
    facts: { value: 'FILE' },
    json: 'switch',
  })
  const tool = flags.get('call')
  if (tool === undefined) throw new LockstepError('usage', 'policy explain needs --call TOOL')
  const policies = readPolicies(names, terminal)
  const more = readMoreFacts(flags.get('facts'), terminal)
  if (policies === null || more === null) return exitCode.failed

  const request: PolicyRequest = {
    tool,
    args: readObject(flags, 'args') ?? {},
    step: flags.get('step') ?? null,
    risk: (flags.get('risk') ?? null) as Risk | null,
    target: flags.get('target') ?? null,
  }
  const facts = readFacts({ ...more, ...factsOf(flags, lists, more) }, request, policies)
  const explanation = explain(policies, request, facts)
  if (flags.has('json')) terminal.out(`${escapeControl(JSON.stringify(explanation))}\n`)
  else {
    if (names.length === 0) terminal.out('No policy is named, so the defaults hold.\n')
    for (const line of [...describeUnknown(policies, more), ...describeExplanation(explanation)])
      terminal.out(`${escapeControl(line)}\n`)
  }
  return codes[explanation.decision.verdict]
}

/** Which limits count what other runs did, and were told nothing of it: a verdict on them is only as good as that. */
function describeUnknown(policies: readonly CompiledPolicy[], { counters }: FactsFile): readonly string[] {
  if (counters === null) return []
  const open = policies.flatMap(({ ref, counters: asked }) =>
    asked
      .filter(({ scope, rule }) => scope !== 'run' && !Object.hasOwn(counters ?? {}, rule))
      .map(({ scope, rule }) => `${rule} of ${ref.id} (${scope})`),
  )
  if (open.length === 0) return []
  return [`Not known, and taken as nothing so far: ${open.join(', ')}. Give counters with --facts FILE.`]
}

function readPolicies(names: readonly string[], terminal: Terminal): readonly CompiledPolicy[] | null {
  const files = names.map((name) => readPolicyFile(name))
  const policies = files.flatMap(({ policy }) => policy ?? [])
  if (policies.length === files.length) return policies
  for (const file of files) showProblems(file, terminal.err, terminal)
  return null
}

function readMoreFacts(path: string | undefined, terminal: Terminal): FactsFile | null {
  if (path === undefined) return {}
  const source = readSourceFile(path)
  if (source.text === null) {
    showProblems({ diagnostics: [source.problem], document: null }, terminal.err, terminal)
    return null
  }
  const parsed = parseFacts(source.text, { format: source.format, file: path })
  showProblems(parsed, terminal.err, terminal)
  return parsed.facts
}

function factsOf(flags: Flags['flags'], lists: Flags['lists'], more: FactsFile): FactsFile {
  const at = flags.get('at')
  if (at !== undefined && readInstant(at) === null) {
    throw new LockstepError('usage', `--at must be a time with its offset, not ${at}`, {
      hint: 'such as 2026-11-16T09:00:00Z',
    })
  }
  const context = readObject(flags, 'context')
  const inputs = readObject(flags, 'inputs')
  const roles = lists.get('role')
  const principal = flags.get('principal')
  const mode = flags.get('mode') as PolicyMode | undefined
  const glass = flags.get('break-glass')
  const now = more.at ?? `${new Date().toISOString().slice(0, 19)}Z`
  return {
    at: at ?? now,
    ...(context === undefined ? {} : { context }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(roles === undefined ? {} : { roles: [...roles] }),
    ...(principal === undefined ? {} : { principal }),
    ...(mode === undefined ? {} : { mode }),
    ...(glass === undefined ? {} : { break_glass: glass }),
  }
}

function readObject(flags: Flags['flags'], name: string): JsonObject | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  let value: Json | undefined
  try {
    value = JSON.parse(text) as Json
  } catch {
    value = undefined
  }
  if (!isJsonObject(value))
    throw new LockstepError('usage', `--${name} must be an object in JSON, not ${text}`)
  return value
}
