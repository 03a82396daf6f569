import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePlatformHome, openTrialServer, until, type TrialServer } from './platform-home.suite.ts'
import { publishSamples } from '../platform/samples.ts'
import { Library } from '../source/library.ts'

const runbook = (name: string, node = 'node-1') =>
  `name: ${name}\ndescription: Looks at a node.\ninputs: { node: { type: string, default: ${node} } }\nsteps:\n  - name: look\n    tool: practice.get_node\n    input: { node: '{inputs.node}' }\n`
const policy = (id: string, most = 500) =>
  `id: ${id}\nrules:\n  - { id: small, tool: practice.refund, require: args.amount <= ${most}, message: At most ${most}. }\n`

const hasGit = spawnSync('git', ['--version']).status === 0
if (!hasGit) console.warn('skipped: git is not there, so no checkout is served')

const home = makePlatformHome()
let server: TrialServer
beforeAll(async () => {
  server = await openTrialServer(home)
})
afterAll(() => home.remove())

async function create(name: string, by: 'Admin' | 'SRE' = 'SRE') {
  return await server.send('POST /runbooks', by, { text: runbook(name), format: 'yaml' })
}

describe('playbooks over HTTP', () => {
  it.each(['env:HOME', 'file:/etc/passwd'])(
    'reach for no secret of the process such as %s',
    async (reference) => {
      const text = `${runbook('thief')}secrets: { token: '${reference}' }\n`.replace(
        "node: '{inputs.node}'",
        "node: '{secrets.token}'",
      )
      const refused = await server.send('POST /runbooks', 'Admin', { text, format: 'yaml' })
      expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_playbook' } })
      expect(refused.body.detail).toMatch(/^The secret token is of /)
      const made = await server.send('POST /runbooks', 'SRE', {
        text: text
          .replace(reference, 'store:NODE')
          .replace('name: thief', `name: of-${reference.slice(0, 3)}`),
        format: 'yaml',
      })
      expect(made.status).toBe(201)
      const change = { text, format: 'yaml' }
      const changed = await server.send(`PUT /runbooks/${made.body.id}`, 'SRE', change, { 'if-match': '"1"' })
      expect([changed.status, changed.body.code]).toEqual([422, 'invalid_playbook'])
      const { directory, desk, texts } = server.platform
      const project = directory.projects.default('local').id
      const actor = { tenant: 'local', principal: 'x', user: null }
      const past = { name: `past-${reference.slice(0, 3)}`, text, format: 'yaml', note: null } as const
      // One that was published before anybody looked.
      const { id } = await directory.runbooks.publish(actor, project, past)
      const found = (await texts.runbook('local', id))!
      const begun = desk.begin({
        tenant: 'local',
        project,
        by: { actor: 'x', kind: 'local', roles: [], persons: ['x'] },
        playbook: await texts.open('local', found, 1),
        runbook: { id, name: past.name, version: 1 },
        mode: 'execute',
        inputs: {},
        context: {},
        model: null,
        prompt: null,
      })
      await expect(begun).rejects.toMatchObject({ code: 'invalid_playbook' })
    },
  )

  it('are published, read, changed in versions, told apart, copied, put away and deleted', async () => {
    const { send } = server
    const made = await create('one')
    expect(made).toMatchObject({ status: 201, headers: { etag: '"1"' } })
    expect(made.body).toMatchObject({
      name: 'one',
      description: 'Looks at a node.',
      version: 1,
      origin: { kind: 'console' },
      reading: { needsModel: false, tools: ['practice.get_node'], flow: [{ id: 'look', kind: 'call' }] },
      warnings: [],
    })
    const at = `/runbooks/${made.body.id}`
    const change = { text: runbook('one', 'node-2'), format: 'yaml', note: 'another node' }
    expect((await send(`PUT ${at}`, 'SRE', change)).status).toBe(428)
    expect((await send(`PUT ${at}`, 'SRE', change, { 'if-match': '"7"' })).body).toMatchObject({
      code: 'version_conflict',
    })
    const changed = await send(`PUT ${at}`, 'SRE', change, { 'if-match': '"1"' })
    expect([changed.status, changed.headers['etag'], changed.body.version]).toEqual([200, '"2"', 2])
    const versions = await send(`GET ${at}/versions`, 'Viewer')
    expect(versions.body.items).toMatchObject([{ version: 2, note: 'another node' }, { version: 1 }])
    expect((await send(`GET ${at}/versions?limit=1`, 'Viewer')).body.next).toBe('2')
    expect((await send(`GET ${at}/versions?limit=1&cursor=2`, 'Viewer')).body.items).toMatchObject([
      { version: 1 },
    ])
    expect((await send(`GET ${at}/versions/1`, 'Viewer')).body.text).toBe(runbook('one'))
    expect((await send(`GET ${at}/versions/9`, 'Viewer')).status).toBe(404)
    const { lines } = (await send(`GET ${at}/diff?from=1&to=2`, 'Viewer')).body
    expect(lines.filter(({ kind }: { kind: string }) => kind !== 'same')).toEqual([
      { kind: 'removed', text: expect.stringContaining('node-1') },
      { kind: 'added', text: expect.stringContaining('node-2') },
    ])
    const copy = await send(`POST ${at}/duplicate`, 'SRE', { name: 'one again' })
    expect([copy.status, copy.body.version, copy.body.text]).toEqual([201, 1, runbook('one', 'node-2')])
    expect((await send(`POST ${at}/archive`, 'SRE')).body.archived).toBe(true)
    const names = async (query: string) =>
      (await send(`GET /runbooks?${query}`, 'Viewer')).body.items.map(({ name }: { name: string }) => name)
    expect([await names('search=one'), await names('archived=true')]).toEqual([['one again'], ['one']])
    expect((await send(`POST ${at}/unarchive`, 'SRE')).body.archived).toBe(false)
    expect((await send(`DELETE ${at}`, 'SRE', undefined, { 'if-match': '"1"' })).status).toBe(412)
    expect((await send(`DELETE ${at}`, 'SRE', undefined, { 'if-match': '"2"' })).status).toBe(204)
    expect((await send(`GET ${at}`, 'SRE')).status).toBe(404)
  })

  it('are refused with every error and its place, and warned about', async () => {
    const bad = await server.send('POST /runbooks', 'SRE', {
      format: 'yaml',
      text: 'name: bad\nsteps:\n  - name: a\n    tol: practice.get_node\n  - name: b\n    tool: practice.get_node\n    inputt: {}\n',
    })
    expect([bad.status, bad.body.code]).toEqual([422, 'invalid_playbook'])
    expect(bad.body.errors).toEqual([
      { path: 'text:4:5', message: expect.stringContaining('`tool`') },
      { path: 'text:5:5', message: expect.stringContaining('lacks `node`') },
      { path: 'text:7:5', message: expect.stringContaining('`input`') },
    ])
    const strange = await server.send('POST /runbooks', 'SRE', {
      format: 'yaml',
      text: 'name: far\nsteps:\n  - { name: a, tool: k8s.drain_node }\n',
    })
    expect(strange.status).toBe(201)
    expect(strange.body.warnings).toMatchObject([{ severity: 'warning', code: 'unknown_tool', line: 3 }])
    expect((await create('far')).status).toBe(409)
  })

  it('are checked in every form without being published', async () => {
    const check = async (text: string, format: string) =>
      (await server.send('POST /runbooks/check', 'Viewer', { text, format })).body
    expect(
      await check(
        '# A\n\n## Main\n\n### Triggers\n- At the beginning\n\n### Steps\n- Say "Hello"\n- End program\n',
        'markdown',
      ),
    ).toMatchObject({
      diagnostics: [],
      reading: { conversation: false, needsModel: false },
    })
    expect(await check('# A\n\n## Main\n\n### Steps\n- Sya "Hello"\n', 'markdown')).toMatchObject({
      reading: null,
    })
    expect(
      await check(
        '{"id":"a","name":"A","steps":[{"id":"s","description":"d","expected_tools":["practice.get_node"]}]}',
        'json',
      ),
    ).toMatchObject({
      diagnostics: [],
      reading: { needsModel: true },
    })
    expect((await check('steps: [', 'yaml')).diagnostics.length).toBeGreaterThan(0)
  })

  it('are changed by who may, and by nobody else', async () => {
    const { body } = await create('guarded')
    for (const role of ['Viewer', 'OnCall'] as const) {
      expect((await server.send('POST /runbooks', role, { text: runbook('x'), format: 'yaml' })).status).toBe(
        403,
      )
      expect((await server.send(`DELETE /runbooks/${body.id}`, role)).status).toBe(403)
    }
    expect((await server.send(`GET /runbooks/${body.id}`, null)).status).toBe(401)
    const project = await server.send('POST /projects', 'Admin', { name: 'Payments' })
    const inside = await server.send(
      'POST /runbooks',
      'Admin',
      { text: runbook('inside'), format: 'yaml' },
      { 'x-project': 'Payments' },
    )
    expect(inside.body.project).toBe(project.body.id)
    const other = await server.send('POST /runbooks', 'Admin', { text: runbook('inside'), format: 'yaml' })
    expect(other.status).toBe(201)
    const listed = await server.send('GET /runbooks?search=inside', 'Viewer', undefined, {
      'x-project': 'Payments',
    })
    expect(listed.body.items).toHaveLength(1)
  })
})

describe('policies over HTTP', () => {
  it('are published, changed, told apart and deleted', async () => {
    const { send } = server
    const made = await send('POST /policies', 'SRE', { name: 'desk', text: policy('desk') })
    expect([made.status, made.body.appliesTo]).toEqual([201, 'tenant'])
    const at = `/policies/${made.body.id}`
    const change = { name: 'desk', text: policy('desk', 50) }
    expect((await send(`PUT ${at}`, 'SRE', change, { 'if-match': '"1"' })).body.version).toBe(2)
    expect((await send(`GET ${at}/diff?from=1&to=2`, 'Viewer')).body.lines.length).toBeGreaterThan(0)
    const call = { tool: 'practice.refund', args: { order_id: 'ORD-42', amount: 100 } }
    expect((await send('POST /policies/explain', 'Viewer', call)).body).toMatchObject({
      verdict: 'deny',
      rule: 'rules.small',
      policy: 'desk',
    })
    expect(
      (await send('POST /policies', 'SRE', { name: 'bad', text: 'id: bad\nruls: []\n' })).body.errors,
    ).toMatchObject([{ path: 'text:2:1' }])
    expect((await send(`DELETE ${at}`, 'SRE')).status).toBe(204)
    expect((await send('POST /policies/explain', 'Viewer', call)).body).not.toMatchObject({ policy: 'desk' })
    expect((await send('POST /policies/check', 'Viewer', { text: 'id: x\n' })).status).toBe(200)
  })

  it('bind one playbook where they say so', async () => {
    const { send } = server
    const { body } = await create('bound')
    expect(
      (
        await send('POST /policies', 'SRE', {
          name: 'none',
          text: policy('none'),
          appliesTo: 'runbook',
          runbook: 'nowhere',
        })
      ).status,
    ).toBe(422)
    const made = await send('POST /policies', 'SRE', {
      name: 'own',
      text: policy('own'),
      appliesTo: 'runbook',
      runbook: 'bound',
    })
    expect(made.body.runbook).toBe(body.id)
    const { texts, directory } = server.platform
    const project = directory.projects.default('local').id
    expect((await texts.policiesFor('local', project, body.id)).map(({ ref }) => ref.id)).toContain('own')
    expect((await texts.policiesFor('local', project, null)).map(({ ref }) => ref.id)).not.toContain('own')
  })

  it('for the whole tenant are not for who may in one project only', async () => {
    const { send, platform } = server
    const { body: project } = await send('POST /projects', 'Admin', { name: 'Desk' })
    const { secret } = await platform.directory.keys.make(
      { tenant: 'local', principal: 'lockstep', user: null },
      { name: 'k', role: 'SRE', project: project.id, expiresAt: null },
    )
    const by = { 'x-api-key': secret, 'x-project': 'Desk' }
    expect((await send('POST /policies', null, { name: 'wide', text: policy('wide') }, by)).status).toBe(403)
    expect(
      (
        await send(
          'POST /policies',
          null,
          { name: 'narrow', text: policy('narrow'), appliesTo: 'project' },
          by,
        )
      ).status,
    ).toBe(201)
  })

  it('are tried against cases', async () => {
    const cases =
      'cases:\n  - name: little\n    request: { tool: practice.refund, args: { amount: 5 }, risk: write }\n    expect: { verdict: allow }\n  - name: much\n    request: { tool: practice.refund, args: { amount: 5000 }, risk: write }\n    expect: { verdict: allow }\n'
    const tried = await server.send('POST /policies/test', 'Viewer', { text: policy('desk'), cases })
    expect(tried.body).toMatchObject({
      passed: 1,
      failed: 1,
      cases: [
        { passed: true, message: null },
        { name: 'much', passed: false, message: expect.stringContaining('At most 500') },
      ],
    })
    expect(
      (await server.send('POST /policies/test', 'Viewer', { text: policy('desk'), cases: 'cases: 7' }))
        .status,
    ).toBe(422)
  })
})

describe('a checkout', () => {
  it.skipIf(!hasGit)(
    'is served by its commit, read anew with the next one, and not changed here',
    async () => {
      const books = join(home.folder, 'books')
      const git = (...args: string[]) =>
        execFileSync(
          'git',
          [
            '-C',
            books,
            '-c',
            'user.name=T',
            '-c',
            'user.email=t@t.example',
            '-c',
            'commit.gpgsign=false',
            ...args,
          ],
          { encoding: 'utf8' },
        )
      const write = (name: string, text: string) => writeFileSync(join(books, name), text)
      mkdirSync(books)
      git('init', '-q')
      write('look.yaml', runbook('look'))
      write('desk.yaml', policy('desk-git'))
      write('notes.md', '# Notes\n\nNothing to do here.\n')
      write('part.md', '- Say "from a part"\n')
      git('add', '.')
      git('commit', '-qm', 'one')
      write('look.yaml', 'not committed')
      const other = makePlatformHome()
      let now = 1_900_000_000_000
      try {
        const { send } = await openTrialServer(other, { set: { from: books }, now: () => now })
        const list = async () => (await send('GET /runbooks', 'Viewer')).body.items
        const [only, ...more] = await list()
        expect(more).toEqual([])
        const commit = git('rev-parse', 'HEAD').trim()
        expect(only).toMatchObject({
          name: 'look',
          version: 1,
          origin: { kind: 'git', commit, path: 'look.yaml' },
        })
        const at = `/runbooks/${only.id}`
        expect((await send(`GET ${at}`, 'Viewer')).body.text).toBe(runbook('look'))
        for (const [request, payload] of [
          [`PUT ${at}`, { text: runbook('look'), format: 'yaml' }],
          [`DELETE ${at}`, undefined],
          [`POST ${at}/archive`, undefined],
        ] as const)
          expect((await send(request, 'Admin', payload, { 'if-match': '"1"' })).body).toMatchObject({
            status: 409,
            code: 'read_only',
          })
        expect((await send('GET /policies', 'Viewer')).body.items).toMatchObject([
          { name: 'desk-git', origin: { kind: 'git', commit } },
        ])
        write('look.yaml', runbook('look', 'node-9'))
        git('commit', '-qam', 'two')
        now += 2000
        expect(await list()).toMatchObject([
          { version: 2, origin: { commit: git('rev-parse', 'HEAD').trim() } },
        ])
        write('look.yaml', 'name: look\nsteps: 7\n')
        git('commit', '-qam', 'broken')
        now += 2000
        expect(await list()).toMatchObject([{ version: 2 }])
      } finally {
        await other.remove()
      }
    },
  )
})

describe('the library of lockstep apply', () => {
  it('is served with every version, and not changed here', async () => {
    const other = makePlatformHome()
    try {
      const library = new Library(other.folder)
      const publish = async (
        commit: string,
        text: string,
        path = 'desk/look.yaml',
        parts = new Map<string, string>(),
      ) => {
        const name = path.replace(/^.*\/|\.\w+$/g, '')
        const all = [{ kind: 'playbook', name, path, text, parts }] as const
        const origin = { root: '/r', commit, at: '2030-01-01T00:00:00.000Z', by: 'ann' }
        await library.publish(all, origin, () => ({ publish: all }))
      }
      const [one, two] = ['1'.repeat(40), '2'.repeat(40)] as const
      await publish(one, runbook('look'))
      const { send } = await openTrialServer(other)
      const list = async () => (await send('GET /runbooks', 'Viewer')).body.items
      expect(await list()).toMatchObject([
        {
          id: 'library.look',
          version: 1,
          updatedBy: 'ann',
          origin: { kind: 'git', commit: one, path: 'desk/look.yaml' },
        },
      ])
      await publish(two, runbook('look', 'node-5'))
      const program =
        '# A\n\n## Main\n\n### Triggers\n- At the beginning\n\n### Steps\n- Say "Hello"\n- End program\n'
      await publish(two, `!import part.md\n`, 'desk/talk.md', new Map([['part.md', program]]))
      const items = await list()
      expect(items.map(({ id }: { id: string }) => id).toSorted()).toEqual(['library.look', 'library.talk'])
      expect(
        items.map(({ name, version }: { name: string; version: number }) => [name, version]),
      ).toContainEqual(['look', 2])
      expect((await send('GET /runbooks/library.look/versions/1', 'Viewer')).body).toMatchObject({
        commit: one,
        text: runbook('look'),
      })
      expect(
        (await send('GET /runbooks/library.look/diff?from=1&to=2', 'Viewer')).body.lines.length,
      ).toBeGreaterThan(0)
      const change = { text: runbook('look'), format: 'yaml' }
      expect(
        (await send('PUT /runbooks/library.look', 'Admin', change, { 'if-match': '"2"' })).body,
      ).toMatchObject({ code: 'read_only' })
    } finally {
      await other.remove()
    }
  })
})

describe('the process', () => {
  it('says that it lives, what it counts and what models cost', async () => {
    const { send } = server
    expect((await send('GET /healthz', null)).body).toEqual({ ok: true })
    expect((await send('GET /readyz', null)).body).toEqual({ ready: true })
    const run = await publishSamples(server.platform)
    await until(async () => (await server.platform.overview.run('local', run))?.waiting === 1)
    const { text } = await send('GET /metrics', 'Viewer')
    expect(text).toMatch(/^lockstep_runs_started_total\{mode="execute"\} 1$/m)
    expect(text).toMatch(/^lockstep_calls_total\{verdict="held"\} 1$/m)
    expect(text).toMatch(/^lockstep_approvals_waiting 1$/m)
    expect(text).toMatch(/^lockstep_http_requests_total\{method="GET",route="\/healthz",status="2xx"\} 1$/m)
    expect(text).toMatch(/^lockstep_http_request_duration_seconds_bucket\{route="\/healthz",le="\+Inf"\} 1$/m)
    expect((await send('GET /metrics', null)).status).toBe(401)
    const page = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8')
    const named = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
      ([, series, kind]) => `| \`${series}\` | ${kind} |`,
    )
    expect(named.filter((row) => !page.includes(row))).toEqual([])
    expect(named).toHaveLength([...page.matchAll(/^\| `lockstep_/gm)].length)
    expect((await send('GET /models', 'Viewer')).body).toMatchObject({
      current: 'none',
      prices: expect.arrayContaining([expect.objectContaining({ model: 'gpt-4o' })]),
    })
  })
})
