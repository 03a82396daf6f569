/** Secrets by reference in the inputs of calls (G19): who is given them, and who never sees them. */
import { describe, expect, test } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { agentTool } from '../../src/agent/agent-tool.ts'
import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { Interruption } from '../../src/agent/interruption.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import { definePlaybook } from '../../src/playbook/define-playbook.ts'
import { compilePolicy } from '../../src/policy/compile-policy.ts'
import { parsePolicy } from '../../src/policy/parse-policy.ts'
import type { RunEvent } from '../../src/run/event.ts'
import { dryRunTool } from '../../src/tool/dry-run-tool.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { scriptedModel } from '../../src/agent/scripted-model.ts'
import { decideAgain } from './decide-again.ts'
import { runbook, tick, workshop } from './workshop.ts'

const token = 'tok-7f3a"ü/9'
const secrets = (_name: string, reference: string) =>
  reference === 'store:api-token' ? token : Promise.reject(new Error(`${reference} is not set`))

const setup = (playbook: AgentOptions['playbook'] & object, tools: readonly Tool[], more = {}) =>
  new Agent({ model: 'none', playbook, tools, secrets, ...more })

/** Every way in which the secret could stand in a text. */
const forms = [
  token,
  JSON.stringify(token).slice(1, -1),
  encodeURIComponent(token),
  Buffer.from(token).toString('base64'),
  Buffer.from(token).toString('base64url'),
]

const holdsNone = (value: unknown) => {
  const text = JSON.stringify(value)
  for (const form of forms) expect(text).not.toContain(form)
  expect(text).toContain('secret://token')
}

describe('a secret of a runbook', () => {
  test('is given to the call, its check and its undoing, at its places, and nobody else sees more than the handle', async () => {
    const { effects, make } = workshop()
    const echo = (args: object) => ({ got: args, url: `?t=${encodeURIComponent(token)}`, [token]: 1 })
    const tools = [
      make('send', {
        risk: 'irreversible',
        execute: (args) => (effects.push(`send ${JSON.stringify(args)}`), echo(args)),
      }),
      make('look', {
        risk: 'read',
        execute: (args) => (effects.push(`look ${JSON.stringify(args)}`), { ok: true, args }),
      }),
      make('unsend', { execute: (args) => (effects.push(`unsend ${JSON.stringify(args)}`), echo(args)) }),
      make('break', {
        execute: () => {
          throw new ToolFailure(`refused ${token} and ${Buffer.from(token).toString('base64')}`)
        },
      }),
    ]
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps:
        - name: send
          tool: send
          input: { list: [1, { token: '{secrets.token}' }], to: x }
          verify: { tool: look, input: { t: '{secrets.token}' }, expect: result.ok }
          compensate: { tool: unsend, input: { token: '{secrets.token}', was: '{output.url}' } }
        - { name: break, tool: break }
    `)
    const hooked: unknown[] = []
    const asked: unknown[] = []
    const journal = new MemoryJournal()
    const agent = setup(playbook, tools, {
      journal,
      hooks: [
        {
          beforeToolCall: (call: object) => void hooked.push(asJson(call)),
          afterToolCall: (call: object) => void hooked.push(asJson(call)),
        },
      ],
      onApproval: (request: unknown) => (asked.push(asJson(request as object)), true),
    })
    const events: unknown[] = []
    const stream = agent.stream('', { run: 'r1' })
    for await (const event of stream) events.push(event)
    const result = await stream.result
    expect(result.status).toBe('failed')
    expect(effects).toEqual([
      `send ${JSON.stringify({ list: [1, { token }], to: 'x' })}`,
      `look ${JSON.stringify({ t: token })}`,
      `unsend ${JSON.stringify({ token, was: '?t=[secret]' })}`,
    ])
    const entries = await journal.read('r1')
    for (const seen of [
      entries,
      events,
      hooked,
      asked,
      [result.playbookPlan, 'secret://token'],
      [result.reason, result.message, 'secret://token'],
    ])
      holdsNone(seen)
    expect(result.reason).toContain('refused [secret] and [secret]')
    const recorded = entries
      .filter(({ type }) => !type.startsWith('agent.') && type !== 'approval.decided')
      .map(({ type, at, data }) => ({ type, at, ...data }) as unknown as RunEvent)
    expect(decideAgain(compilePlaybook(playbook), recorded, () => null)).toBe(null)
  })

  test('is a handle for conditions and policies, also when a call is sent again', async () => {
    const { make } = workshop()
    const text =
      'id: p\nrisk: { irreversible: allow }\nrules: [{ id: r, tool: send, require: args.token == "secret://token" }]'
    const policies = [compilePolicy(parsePolicy(text, { format: 'yaml' }).policy!)]
    const policy = { policies, principal: { id: 'ann', kind: 'local', roles: [] } } as const
    let lost = 1
    const send = make('send', {
      idempotent: true,
      execute: ({ token: given }) => {
        if (lost-- > 0) throw new Error('lost')
        return { right: given === token }
      },
    })
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      rules: [{ tool: send, require: 'args.token == "secret://token"' }]
      steps:
        - name: send
          tool: send
          input: { token: '{secrets.token}' }
          validation: { expression: 'results[0].right' }
    `)
    const { status, reason } = await setup(playbook, [send], { policy }).run('')
    expect({ status, reason }).toEqual({ status: 'succeeded', reason: null })
  })

  test('is never found for a text that comes from inputs, outputs, items or a model', async () => {
    const { effects, make } = workshop()
    const tools = [
      make('give', { execute: () => ({ text: 'secret://token', deep: { token: 'secret://token' } }) }),
      make('take', { execute: (args) => void effects.push(JSON.stringify(args)) }),
    ]
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      inputs: { said: any, list: array }
      steps:
        - { name: give, tool: give, input: { token: '{secrets.token}' } }
        - name: take
          tool: take
          foreach: '{inputs.list}'
          input: { a: '{inputs.said}', b: '{steps.give.output.deep}', c: '{item}', literal: 'secret://token', d: '{secrets.token}' }
        - { id: talk, description: Call it., expected_tools: [take] }
    `)
    const handle = 'secret://token'
    const model = scriptedModel({
      turns: [{ calls: [{ tool: 'take', arguments: { d: handle, token: handle } }] }, { text: 'done' }],
    })
    const agent = setup(playbook, tools, { model })
    const result = await agent.run('', { inputs: { said: { d: handle }, list: [handle, { d: handle }] } })
    expect(result.status).toBe('succeeded')
    const data = { a: { d: handle }, b: { token: handle } }
    expect(effects.map((text) => JSON.parse(text) as unknown)).toEqual([
      { ...data, c: handle, literal: handle, d: token },
      { ...data, c: { d: handle }, literal: handle, d: token },
      { d: handle, token: handle },
    ])
  })

  test('is put into what was frozen for undoing, after the run was taken up elsewhere, and stays masked there', async () => {
    const { effects, make } = workshop()
    const controller = new AbortController()
    const note = (name: string) => (args: object) => {
      effects.push(`${name} ${JSON.stringify(args)}`)
      return { args }
    }
    const tools = (then: Tool) => [
      make('send', { execute: note('send') }),
      make('unsend', { execute: note('unsend') }),
      make('read', { risk: 'read', execute: () => ({ kept: token }) }),
      then,
    ]
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps:
        - name: send
          tool: send
          input: { token: '{secrets.token}' }
          compensate: { tool: unsend, input: { token: '{secrets.token}', copy: '{output.args.token}' } }
        - { name: wait, tool: wait }
        - { name: read, tool: read }
        - { name: stop, tool: stop, input: { said: '{steps.read.output.kept}' } }
    `)
    const journal = new MemoryJournal()
    const stop = make('stop', {
      execute: (args) => {
        throw new ToolFailure(`no ${JSON.stringify(args)}`)
      },
    })
    const wait = make('wait', { execute: () => controller.abort(new Interruption()) })
    const first = await setup(playbook, [...tools(wait), stop], { journal }).run('', {
      run: 'r',
      signal: controller.signal,
    })
    expect(first.status).toBe('incomplete')
    // It is masked before anything of the resumed run is read, however long finding it takes.
    const slow = async () => (await tick(), token)
    const later = setup(playbook, [...tools(make('wait')), stop], { journal, secrets: slow })
    const again = await later.resume('r')
    expect(again.reason).toContain('no {"said":"[secret]"}')
    expect(effects).toEqual([
      `send ${JSON.stringify({ token })}`,
      `unsend ${JSON.stringify({ token, copy: '[secret]' })}`,
    ])
    holdsNone(await journal.read('r'))
  })

  test('is there for every attempt, for repeating and for asking what became of the call, also after a crash', async () => {
    const seen: string[] = []
    let fails = 1
    const { make } = workshop()
    const tools = (deaf: boolean) => [
      make('twice', {
        execute: (args) => {
          seen.push(`twice ${JSON.stringify(args)}`)
          if (fails-- > 0) throw new ToolFailure('not yet')
        },
      }),
      make('idem', {
        idempotent: true,
        execute: (args, { idempotencyKey }) => {
          seen.push(`idem ${JSON.stringify(args)}`)
          if (seen.filter((line) => line.startsWith('idem')).length === 1) throw new Error(`lost ${token}`)
          return idempotencyKey
        },
      }),
      make('asked', {
        execute: (args) => {
          seen.push(`asked ${JSON.stringify(args)}`)
          if (deaf) return new Promise(() => undefined)
          throw new Error('gone')
        },
        reconcile: (_key, args) => {
          seen.push(`reconcile ${JSON.stringify(args)}`)
          return { outcome: 'succeeded', result: { args }, note: `${'.'.repeat(9_995)}${token}` }
        },
      }),
    ]
    const input = "input: { token: '{secrets.token}' }"
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps:
        - { name: twice, tool: twice, ${input}, retry: { attempts: 2, delay_seconds: 0 } }
        - { name: idem, tool: idem, ${input} }
        - { name: asked, tool: asked, ${input} }
    `)
    const sent = JSON.stringify({ token })
    const journal = new MemoryJournal()
    expect((await setup(playbook, tools(false), { journal }).run('', { run: 'r' })).status).toBe('succeeded')
    expect(seen).toEqual([
      `twice ${sent}`,
      `twice ${sent}`,
      `idem ${sent}`,
      `idem ${sent}`,
      `asked ${sent}`,
      `reconcile ${sent}`,
    ])
    holdsNone(await journal.read('r'))
    // What is cut short leaves no half of it.
    expect(JSON.stringify(await journal.read('r'))).not.toContain('.tok-')

    seen.length = 0
    void setup(playbook, tools(true), { journal }).run('', { run: 'dead' })
    await expect.poll(() => seen.at(-1)).toBe(`asked ${sent}`)
    const entries = await journal.read('dead')
    await journal.append('taken', entries, { tenant: 'local', principal: 'local', expectedSeq: 0 })
    // Without the secret nobody is asked, and the outcome stays unknown; with it, the run goes on.
    const poor = setup(playbook, tools(false), {
      journal,
      secrets: () => Promise.reject(new Error('locked')),
    })
    expect((await poor.resume('taken')).status).toBe('incomplete')
    expect(seen.at(-1)).toBe(`asked ${sent}`)
    expect(JSON.stringify(await journal.read('taken'))).toContain(
      "nobody could be asked: the secret 'token' cannot be had: locked",
    )
    expect((await setup(playbook, tools(false), { journal }).resume('taken')).status).toBe('succeeded')
    expect(seen.at(-1)).toBe(`reconcile ${sent}`)
    holdsNone(await journal.read('taken'))
  })

  test('that cannot be had stops the run before the call, once, and says which; it goes on when the secret is there', async () => {
    const { effects, make } = workshop()
    const tools = [make('a'), make('b')]
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token, other: env:OTHER }
      steps:
        - { name: a, tool: a, input: { t: '{secrets.token}' }, compensate: { tool: b } }
        - { name: b, tool: b, input: { t: '{secrets.other}' } }
    `)
    const journal = new MemoryJournal()
    const result = await setup(playbook, tools, { journal }).run('', { run: 'r' })
    const why = "b (b) could not be made: the secret 'other' cannot be had: env:OTHER is not set"
    expect({ status: result.status, reason: result.reason }).toEqual({ status: 'incomplete', reason: why })
    const outcomes = (await journal.read('r')).flatMap(({ type, data }) =>
      type === 'tool.settled' ? [data['outcome']] : [],
    )
    expect(outcomes).toEqual(['succeeded', 'not_executed'])
    const found = (_: string, reference: string) => (reference === 'env:OTHER' ? 'other-value' : token)
    expect((await setup(playbook, tools, { journal, secrets: found }).resume('r')).status).toBe('succeeded')
    expect(effects).toEqual([`a ${JSON.stringify({ t: token })}`, 'b {"t":"other-value"}'])
    // Too short to be kept out of results, or no text at all.
    for (const value of ['abc', 7 as never, undefined as never]) {
      const { reason } = await setup(playbook, tools, { secrets: () => value }).run('')
      expect(reason).toContain(
        "a (a) could not be made: the secret 'token' cannot be had: it is no text of 4 characters or more",
      )
    }
  })

  test('is judged as its handle, and again as itself: what does not fit is not made, and nobody reads why in its letters', async () => {
    const { effects, make } = workshop()
    const schema = (token_: object) => ({
      type: 'object',
      properties: { token: { type: 'string', ...token_ } },
    })
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps: [{ name: a, tool: a, input: { token: '{secrets.token}' } }]
    `)
    const input = schema({ maxLength: 14, enum: ['secret://token'] })
    const journal = new MemoryJournal()
    const real = await setup(playbook, [make('a', { input })], { journal }).run('', { run: 'r' })
    expect(real.reason).toContain("with the secret 'token' in its place the arguments do not fit 'a'")
    holdsNone(await journal.read('r'))
    const handle = await setup(playbook, [make('a', { input: schema({ pattern: '^tok-' }) })]).run('')
    expect(handle.status).toBe('failed')
    expect(effects).toEqual([])
  })

  test('is found in no dry run, not even for a tool that only reads', async () => {
    const asked: string[] = []
    const { effects, make } = workshop()
    const read = make('read', { risk: 'read' })
    const tools = [read, make('free', { risk: 'read' }), make('send')].map((tool) =>
      dryRunTool(tool, { callReads: true }),
    )
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps:
        - { name: free, tool: free }
        - { name: read, tool: read, input: { t: '{secrets.token}' } }
        - { name: send, tool: send, input: { t: '{secrets.token}', was: '{steps.read.output}' } }
    `)
    const policy = {
      policies: [],
      principal: { id: 'ann', kind: 'local', roles: [] },
      mode: 'dry-run',
    } as const
    const agent = setup(playbook, tools, { policy, secrets: (name: string) => (asked.push(name), token) })
    const result = await agent.run('')
    expect({ status: result.status, reason: result.reason }).toEqual({ status: 'succeeded', reason: null })
    expect({ asked, effects }).toEqual({ asked: [], effects: ['free {}'] })
    holdsNone(result.snapshot)
    // Nor is anybody needed who could find it.
    expect((await new Agent({ model: 'none', playbook, tools, policy }).run('')).status).toBe('succeeded')
  })

  test('is needed at the start: without anybody who finds it nothing begins', async () => {
    const { effects, make } = workshop()
    const playbook = definePlaybook({
      id: 'r',
      name: 'r',
      secrets: { token: 'store:api-token' },
      steps: [{ id: 'a', tool: 'a', input: { t: '{secrets.token}' } }],
    })
    const agent = new Agent({ model: 'none', playbook, tools: [make('a')] })
    const refusal = {
      code: 'secret_unavailable',
      message: expect.stringContaining('token (store:api-token)'),
    }
    await expect(agent.run('')).rejects.toMatchObject({
      ...refusal,
      hint: expect.stringContaining('secrets:'),
    })
    expect(() => PlaybookEnforcer.fromPlaybook(playbook)).toThrow(expect.objectContaining(refusal))
    expect(() => setup(playbook, [make('a')], { secrets: 'store' })).toThrow('secrets must be a function')
    expect(effects).toEqual([])
  })

  test('is not told to an agent that is a tool', async () => {
    const { make } = workshop()
    const inner = new Agent({ model: scriptedModel({ turns: [{ text: 'done' }] }) })
    const asked = agentTool(inner, { name: 'ask', description: 'Asks.' })
    const playbook = runbook(`
      name: r
      secrets: { token: store:api-token }
      steps: [{ name: a, tool: ask, input: { prompt: '{secrets.token}' } }]
    `)
    const { reason } = await setup(playbook, [asked, make('b')]).run('')
    expect(reason).toContain("'ask' tells a model what it is given")
  })
})

function asJson(value: object): unknown {
  return JSON.parse(JSON.stringify({ ...value, signal: undefined })) as unknown
}
