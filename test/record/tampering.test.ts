/** What is done to a record, kind by kind, and the place that the verifier names. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExportManifest } from '../../src/journal/chain-export.ts'
import { verifyExport, type VerifyOptions } from '../../src/proof/verify-export.ts'
import { reports } from '../../src/report/reports.ts'
import type { JsonObject } from '../../src/shared/json.ts'
import { verifySignature } from './export-of.ts'
import { forge, linesOf, type Line } from './forge.ts'
import { kinds, recordRuns, type Kind } from './recorded-runs.ts'

let lines: readonly string[]
/** The same without what the voter said. */
let redacted: readonly string[]
let proof: Pick<VerifyOptions, 'publicKeys' | 'checkpoints'>

beforeAll(async () => {
  const { checkpoint, publicKeys, ...recorded } = await recordRuns()
  lines = recorded.lines
  redacted = recorded.redacted
  proof = { publicKeys, checkpoints: [checkpoint] }
})

const judge = (given: readonly string[], options: Partial<VerifyOptions> = {}) =>
  verifyExport(given, { verifySignature, ...options })

const first = (given: readonly string[], options: Partial<VerifyOptions> = {}) => {
  const { verdict, findings } = judge(given, options)
  expect(verdict).toBe('broken')
  const { kind, chain, seq, message } = findings[0]!
  return { kind, chain, seq, message }
}

/** Where the entry of a run stands among the lines. */
const placeOf = (run: Kind, seq: number) =>
  lines.findIndex((line, index) => index > 0 && line.includes(`"run":"${run}","seq":${seq},`))
const lengthOf = (run: Kind) => linesOf(lines, run).length
const seqOf = (run: Kind, test: (line: Line) => boolean) => linesOf(lines, run).find(test)!.link.seq
const ofType = (type: string) => (line: Line) => line.link.type === type

test('all of it is consistent, decided again to the last event, and proven with what was kept elsewhere', () => {
  const verdict = judge(lines)
  expect(verdict).toMatchObject({
    verdict: 'consistent',
    findings: [],
    notRecomputable: [],
    runs: { opened: 4, closed: 4, missing: [] },
  })
  const decided = Object.fromEntries(verdict.chains.map(({ chain, recomputed }) => [chain, recomputed]))
  for (const kind of ['list', 'policy', 'runbook'] as const) expect(decided[kind]).toBe(lengthOf(kind))
  // The rest is what the agent adds to its record.
  expect(decided['program']).toBeGreaterThan(lengthOf('program') / 2)
  expect(judge(lines, proof).verdict).toBe('proven')
})

test('an export that another program has spelled anew is read, and one over many lines is told from other files', () => {
  const documents = lines.map((line) => JSON.parse(line) as JsonObject)
  const spaced = documents.map((each) => JSON.stringify(each, null, 1).replaceAll(/\n\s*/g, ' '))
  const reversed = documents.map((each) =>
    JSON.stringify(Object.fromEntries(Object.entries(each).toReversed())),
  )
  for (const spelled of [spaced, spaced.map((line) => `${line}\r`), reversed]) {
    const found = reports.read(Buffer.from(spelled.join('\n')))!
    expect(verifyExport(found.lines, { verifySignature, ...proof })).toMatchObject({
      verdict: 'proven',
      notRecomputable: [],
    })
  }
  // Without its first line it is still an export, and a broken one.
  expect(reports.read(Buffer.from(spaced.slice(1).join('\n')))).not.toBeNull()
  const spread = documents.map((each) => JSON.stringify(each, null, 2)).join('\n')
  const { message } = first([...reports.read(Buffer.from(spread))!.lines])
  expect(message).toMatch(/^line 1: the line is not one whole JSON document/)
  expect(reports.read(Buffer.from('{"some": "thing"}\n'))).toBeNull()
})

describe('what is shown in the place of a withheld payload', () => {
  const voted = () => placeOf('policy', seqOf('policy', ofType('approval.voted')))
  const shown = () => JSON.parse(redacted[voted()]!) as Line & { readonly view: JsonObject }
  const show = (view: JsonObject) => redacted.with(voted(), JSON.stringify({ ...shown(), view }))
  const withVoter = (person: string, reason: string): JsonObject => {
    const { view } = shown()
    return { ...view, vote: { ...(view['vote'] as JsonObject), person, reason } }
  }
  const unsigned = (given: readonly string[]) => {
    const { views: _views, ...manifest } = JSON.parse(given[0]!) as ExportManifest
    return given.with(0, JSON.stringify(manifest))
  }

  test('is proven by its signature, and its number is said', () => {
    expect(shown().view['vote']).toMatchObject({ person: 'bob', reason: '[redacted]' })
    const { verdict, notProven } = judge(redacted, proof)
    expect(verdict).toBe('proven')
    expect(notProven[0]).toMatch(/^What was withheld: 1 entry is shown without secrets, on the word of the/)
    // A key that came along vouches for nothing.
    expect(judge(redacted, { checkpoints: proof.checkpoints! })).toMatchObject({ verdict: 'consistent' })
  })

  test('is never proven without a signature, and cannot be changed under one', () => {
    const { verdict, notProven } = judge(unsigned(redacted), proof)
    expect(verdict).toBe('consistent')
    expect(notProven[0]).toMatch(/^What was withheld: 1 entry .* by views that anybody could have changed/)
    const other = show(withVoter('eve', '[redacted]'))
    expect(first(other, proof)).toMatchObject({
      kind: 'forged_signature',
      message: expect.stringMatching(
        /^what is shown in the place of withheld payloads is not what was signed/,
      ),
    })
    expect(judge(unsigned(other), proof).verdict).toBe('consistent')
    // A payload that was there, withheld afterwards.
    const at = placeOf('list', seqOf('list', ofType('tool.denied')))
    const { salt: _salt, data, ...rest } = JSON.parse(lines[at]!) as Line
    const more = { ...rest, view: { ...data, message: '[redacted]' } }
    expect(first(redacted.with(at, JSON.stringify(more)), proof).kind).toBe('forged_signature')
    expect(first(lines.with(at, JSON.stringify(more)), proof).kind).toBe('forged_decision')
  })

  test('breaks the record where nothing was taken out, or where it does not fit and nobody signed it', () => {
    const seq = seqOf('policy', ofType('approval.voted'))
    expect(first(unsigned(show(withVoter('bob', 'fine'))), proof)).toEqual({
      kind: 'edit',
      chain: 'policy',
      seq,
      message: 'its payload is withheld, and nothing was taken out of what is shown in its place',
    })
    expect(first(unsigned(show(withVoter('ada', '[redacted]'))), proof)).toMatchObject({
      kind: 'forged_decision',
      seq,
      message: expect.stringMatching(/^the vote of ada does not count/),
    })
  })
})

describe.each(kinds)('a run of the kind %s', (run) => {
  test('an edit is found at its entry', () => {
    const middle = Math.ceil(lengthOf(run) / 2)
    const at = placeOf(run, middle)
    const edited = lines.with(at, lines[at]!.replace(/"data":\{"/, '"data":{"x'))
    expect(first(edited)).toMatchObject({ kind: 'edit', chain: run, seq: middle })
  })

  test('a deletion is found at the number that is missing', () => {
    const middle = Math.ceil(lengthOf(run) / 2)
    expect(first(lines.toSpliced(placeOf(run, middle), 1))).toEqual({
      kind: 'deletion',
      chain: run,
      seq: middle,
      message: `entry ${middle} is missing`,
    })
  })

  test('a payload that was taken out is found at its entry, whatever vouches for the rest', () => {
    const middle = Math.ceil(lengthOf(run) / 2)
    const at = placeOf(run, middle)
    const { salt: _salt, data: _data, ...rest } = JSON.parse(lines[at]!) as Line
    const emptied = lines.with(at, JSON.stringify(rest))
    expect(first(emptied, proof)).toEqual({
      kind: 'edit',
      chain: run,
      seq: middle,
      message: `the payload of entry ${middle} is missing or unreadable, and nothing says that it was erased`,
    })
  })

  test('a reordering is found at the first that is out of its place', () => {
    const at = placeOf(run, 2)
    const moved = lines.with(at, lines[at + 1]!).with(at + 1, lines[at]!)
    expect(first(moved)).toMatchObject({ kind: 'reordering', chain: run, seq: 3 })
  })

  test('a truncation is found behind the last entry', () => {
    const last = lengthOf(run)
    expect(first(lines.toSpliced(placeOf(run, last), 1))).toMatchObject({
      kind: 'truncation',
      chain: run,
      seq: last,
    })
  })

  test('a truncation that everything was made to fit is found by the tenant or by a checkpoint', () => {
    const cut = forge(lines, run, (entries) => entries.slice(0, -1))
    const { verdict, findings } = judge(cut, proof)
    expect(verdict).toBe('broken')
    expect(findings.map(({ kind }) => kind)).toContain('edit')
  })

  test('a missing run is named', () => {
    const manifest = JSON.parse(lines[0]!) as ExportManifest
    const chains = manifest.chains.filter(({ chain }) => chain !== run)
    const without = [
      JSON.stringify({ ...manifest, chains }),
      ...lines.slice(1).filter((line) => !line.includes(`"run":"${run}","seq"`)),
    ]
    const { kind, chain, message } = first(without)
    expect([kind, chain]).toEqual(['missing_run', run])
    expect(message).toMatch(/was opened and is not in the export/)
  })

  test('every entry that is taken out, and everything made to fit again, is found, or was no decision', () => {
    const missed: string[] = []
    for (const { link } of linesOf(lines, run)) {
      const without = forge(lines, run, (entries) => entries.filter(({ link: { seq } }) => seq !== link.seq))
      const { verdict, notRecomputable } = judge(without)
      // What cannot be known is said: a record may end anywhere, as after a crash.
      if (verdict !== 'broken' && notRecomputable.length === 0) missed.push(link.type)
    }
    // A refusal changes nothing, and what the agent adds decides nothing; a checkpoint finds these.
    expect(missed.filter((type) => !/^tool\.denied$|^agent\.|^model\./.test(type))).toEqual([])
  })
})

/** What is forged, in which run, at which entry, and what is said about it. */
const forgeries: readonly {
  readonly what: string
  readonly run: Kind
  readonly at: (line: Line) => boolean
  readonly change: (line: Line) => Line
  readonly kind?: string
  readonly says: RegExp
}[] = [
  {
    what: 'a denied call that is let through',
    run: 'list',
    at: ofType('tool.denied'),
    change: (line) => ({
      ...line,
      link: { ...line.link, type: 'tool.admitted' },
      data: admittedFrom(line.data),
    }),
    says: /does not lead to this tool\.admitted .*leads to tool\.denied \(out_of_sequence/,
  },
  {
    what: 'an amount that the rule forbids',
    run: 'list',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'refund',
    change: (line) => ({ ...line, data: { ...line.data, args: { amount: 3000 } } }),
    says: /leads to tool\.denied \(rule, refund/,
  },
  {
    what: 'a call beyond what was approved',
    run: 'policy',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'refund',
    change: (line) => ({ ...line, data: { ...line.data, args: { amount: 300 } } }),
    kind: 'uncovered_call',
    says: /^approval a_[0-9a-f]{8} covers amount 30; the call used 300$/,
  },
  {
    what: 'an approval for another tool',
    run: 'policy',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'refund',
    change: (line) => ({ ...line, data: { ...line.data, tool: 'drop' } }),
    kind: 'uncovered_call',
    says: /covers refund; the call was drop$/,
  },
  {
    what: 'a policy that would have denied',
    run: 'policy',
    at: (line) => line.link.type === 'tool.denied' && line.data['code'] === 'policy',
    change: (line) => withDecision(line, { verdict: 'allow', code: 'policy_allowed' }),
    says: /^the policies say deny \(.* of money@3\): never more than 500, and the record says allow/,
  },
  {
    what: 'a policy that would have asked for approval',
    run: 'policy',
    at: ofType('tool.held'),
    change: (line) => withDecision(line, { verdict: 'allow', approval: [] }),
    says: /^the policies say needs_approval/,
  },
  {
    what: 'policies that were told of fewer calls',
    run: 'policy',
    at: ofType('tool.held'),
    change: (line) => withFacts(line, { spent: { run: { calls: 0 }, day: {} } }),
    says: /^the policies were told of 0 calls, and the run had taken 1$/,
  },
  {
    what: 'policies that were told of another step',
    run: 'policy',
    at: ofType('tool.held'),
    change: (line) => ({
      ...line,
      data: {
        ...line.data,
        policy: { ...(line.data['policy'] as JsonObject), request: { step: 'look', risk: 'write' } },
      },
    }),
    says: /^the policies were told of step 'look', and the call belonged to 'pay'$/,
  },
  {
    what: 'a vote by who asked',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => withVote(line, { person: 'ada' }),
    says: /^the vote of ada does not count: whoever asks cannot approve$/,
  },
  {
    what: 'a vote by who asked, with who asked left out',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => {
      const { data } = withVote(line, { person: 'ada' })
      return { ...line, data: { ...data, requesters: [] } }
    },
    says: /^the vote of ada does not count: whoever asks cannot approve$/,
  },
  {
    what: 'a vote that says neither yes nor no',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => withVote(line, { answer: 'approvex' }),
    says: /^the votes come to 'waiting', and the record says 'granted'$/,
  },
  {
    what: 'a vote without the role',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => withVote(line, { roles: ['intern'] }),
    says: /^the vote of bob does not count: it takes the role lead$/,
  },
  {
    what: 'a vote of somebody nobody identified',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => withVote(line, { identity: 'asserted' }),
    says: /^the vote of bob does not count: an identity that is asserted/,
  },
  {
    what: 'a denial that is counted as a grant',
    run: 'policy',
    at: ofType('approval.voted'),
    change: (line) => withVote(line, { answer: 'deny' }),
    says: /^the votes come to 'denied', and the record says 'granted'$/,
  },
  {
    what: 'a branch that was not taken',
    run: 'program',
    at: ofType('branch.taken'),
    change: (line) => ({ ...line, link: { ...line.link, type: 'branch.passed' } }),
    says: /branch\.taken .*follows here, and the record says branch\.passed/,
  },
  {
    what: 'a variable of another value',
    run: 'program',
    at: ofType('variable.set'),
    change: (line) => ({ ...line, data: { ...line.data, value: 10 } }),
    says: /variable\.set follows here/,
  },
  {
    what: 'a call that the program did not work out',
    run: 'program',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'refund',
    change: (line) => ({ ...line, data: { ...line.data, args: { amount: 300 } } }),
    says: /leads to tool\.denied \(out_of_sequence/,
  },
  {
    what: 'a call that was not due',
    run: 'runbook',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'cordon',
    change: (line) => ({ ...line, data: { ...line.data, args: { node: 'n8' } } }),
    says: /does not lead to this tool\.admitted/,
  },
  {
    what: 'an undoing of another node',
    run: 'runbook',
    at: (line) => line.link.type === 'tool.admitted' && line.data['tool'] === 'uncordon',
    change: (line) => ({ ...line, data: { ...line.data, args: { node: 'n8' } } }),
    says: /does not lead to this tool\.admitted/,
  },
  {
    what: 'a failed run that is called a success',
    run: 'runbook',
    at: ofType('run.finished'),
    change: (line) => ({ ...line, data: { ...line.data, status: 'succeeded' } }),
    says: /run\.finished \(failed\) follows here, and the record says run\.finished \(succeeded\)/,
  },
]

test.each(forgeries.map((each) => [each.what, each] as const))(
  'a forged decision is named with its place: %s',
  (_, { run, at, change, kind = 'forged_decision', says }) => {
    const seq = seqOf(run, at)
    const forged = forge(lines, run, (entries) =>
      entries.map((entry) => (entry.link.seq === seq ? change(entry) : entry)),
    )
    const finding = first(forged)
    expect(finding).toMatchObject({ kind, chain: run, seq })
    expect(finding.message).toMatch(says)
  },
)

test('a policy or a playbook that was exchanged is not believed', () => {
  for (const [run, id] of [
    ['policy', 'money'],
    ['list', 'refund'],
    ['program', 'desk'],
    ['runbook', 'rollback'],
  ] as const) {
    const exchanged = forge(
      lines,
      run,
      (entries) => entries,
      (documents) =>
        Object.fromEntries(
          Object.entries(documents).map(([digest, document]) => {
            const found = document as JsonObject
            return [digest, found['id'] === id ? { ...found, description: 'another' } : document]
          }),
        ),
    )
    expect([run, first(exchanged).message]).toEqual([
      run,
      expect.stringMatching(/in the export is not the one/),
    ])
  }
})

test('a call without the facts that denied it does not follow any more', () => {
  const seq = seqOf('list', ofType('tool.denied'))
  const forged = forge(lines, 'list', (entries) =>
    entries.map((entry) =>
      entry.link.seq === seq ? { ...entry, data: { ...entry.data, facts: { registered: false } } } : entry,
    ),
  )
  expect(first(forged)).toMatchObject({ kind: 'forged_decision', chain: 'list', seq })
})

function admittedFrom({ tool, args }: JsonObject): JsonObject {
  return { callId: 'call-1', tool: tool!, args: args!, step: 'pay', extra: false, observed: null }
}

function withPolicy(line: Line, change: (policy: JsonObject) => JsonObject): Line {
  return { ...line, data: { ...line.data, policy: change(line.data['policy'] as JsonObject) } }
}

function withDecision(line: Line, change: JsonObject): Line {
  return withPolicy(line, (policy) => ({
    ...policy,
    decision: { ...(policy['decision'] as JsonObject), ...change },
  }))
}

function withFacts(line: Line, change: JsonObject): Line {
  return withPolicy(line, (policy) => ({
    ...policy,
    facts: { ...(policy['facts'] as JsonObject), ...change },
  }))
}

function withVote(line: Line, change: JsonObject): Line {
  return { ...line, data: { ...line.data, vote: { ...(line.data['vote'] as JsonObject), ...change } } }
}
