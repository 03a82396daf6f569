import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMcpTools } from '../../src/adapter/mcp/create-mcp-tools.ts'
import { PlaybookEnforcer } from '../../src/tool/playbook-enforcer.ts'
import { definePlaybook } from '../../src/index.ts'
import { bin, connectStdio, refusal, textOf } from '../mcp/gateway-process.ts'

/** The reference filesystem server, as its authors publish it. */
const manifest = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-filesystem/package.json',
)
const filesystem = join(dirname(manifest), 'dist/index.js')

const playbook = `
id: rename
name: Rename with care
steps:
  - id: read
    description: Read the note first.
    expected_tools: [read_text_file]
  - id: write
    description: Write it anew.
    expected_tools: [write_file]
    max_tool_calls: 1
rules:
  - tool: write_file
    require: succeeded("read_text_file", path=args.path)
    message: a file is read before it is written
`

let folder: string
let files: string
let note: string

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-files-')))
  files = join(folder, 'files')
  note = join(files, 'note.txt')
  mkdirSync(files)
  writeFileSync(note, 'as it was')
  writeFileSync(join(folder, 'rename.yaml'), playbook)
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('holds a client to a playbook in front of a server that others wrote', async () => {
  const flags = ['--playbook', join(folder, 'rename.yaml'), '--data', folder, '--risk', 'read_text_file=read']
  const command = [bin, 'mcp', ...flags, '--', process.execPath, filesystem, files]
  const { client, call, close, said } = await connectStdio(command, '2025-11-25')
  try {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'read_text_file',
      'write_file',
      'complete_step',
      'skip_step',
      'fail_step',
      'finish',
    ])
    const written = { path: note, content: 'as it is' }
    expect(refusal(await call('write_file', written))).toMatchObject({ code: 'out_of_sequence' })
    expect(refusal(await call('move_file', { source: note, destination: `${note}2` }))).toMatchObject({
      code: 'unexpected_tool',
    })
    expect(existsSync(note)).toBe(true)
    const missing = await call('read_text_file', { path: join(files, 'other.txt') })
    expect(missing.structuredContent).toMatchObject({ outcome: 'failed' })
    const read = await call('read_text_file', { path: note })
    expect(textOf(read)).toContain('as it was')
    expect(read.structuredContent).toEqual({ content: 'as it was' })
    const stray = { path: join(files, 'stray.txt'), content: '' }
    expect(refusal(await call('write_file', stray))).toMatchObject({ code: 'rule' })
    expect((await call('write_file', written)).isError).not.toBe(true)
    expect(textOf(await call('finish', { message: 'Done.' }))).toContain('accepted')
    expect(existsSync(stray.path)).toBe(false)
  } finally {
    await close()
  }
  expect(said()).toContain('First use of upstream')
})

test('gives the tools of a server to an enforcer, irreversible unless somebody vouches', async () => {
  const servers = {
    files: {
      command: process.execPath,
      args: [filesystem, files],
      tools: { read_text_file: { risk: 'read' } },
    },
  } as const
  const { tools, servers: connected, definition, close } = await createMcpTools(servers)
  try {
    // An older server: the revision is found out.
    expect(connected).toEqual([{ name: 'files', revision: expect.stringMatching(/^2025-/) }])
    const risks = new Map(tools.map(({ name, risk }) => [name, risk]))
    expect(risks.get('files/read_text_file')).toBe('read')
    // It says of itself that it only reads; that is shown, and not trusted.
    expect(definition('files/list_directory')).toMatchObject({ annotations: { readOnlyHint: true } })
    expect(risks.get('files/list_directory')).toBe('irreversible')
    const steps = [{ id: 'read', description: 'Read.', expectedTools: ['files/read_text_file'] }]
    const enforcer = PlaybookEnforcer.fromPlaybook(definePlaybook({ id: 'p', name: 'P', steps }), { tools })
    expect(await enforcer.call('files/read_text_file', { path: note })).toMatchObject({
      status: 'succeeded',
      result: { content: 'as it was' },
    })
    expect(await enforcer.call('files/read_text_file', { path: 7 })).toMatchObject({ status: 'denied' })
  } finally {
    await close()
  }
})
