import { expect, test } from 'vitest'
import { readMcpServers } from './server-config.ts'

test('takes servers as MCP clients write them', () => {
  const servers = {
    local: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
    remote: { type: 'http', url: 'https://example.com/mcp', headers: { authorization: 'Bearer x' } },
    known: { command: 'x', tools: { read: { risk: 'read' } }, timeoutSeconds: 5, revision: '2025-11-25' },
    open: { command: 'x', pass: ['resources', 'prompts'], maxResultBytes: 100 },
  }
  expect(readMcpServers(servers)).toEqual(servers)
})

test.each([
  ['nothing', null, 'not an object'],
  ['a list', [], 'not an object'],
  ['neither a command nor an address', { a: {} }, 'a.command'],
  ['an unknown key', { a: { command: 'x', comand: 'y' } }, 'comand'],
  ['an address that is none', { a: { url: 'file:///etc/passwd' } }, 'a.url'],
  ['an unknown risk', { a: { command: 'x', tools: { t: { risk: 'none' } } } }, 'a.tools.t.risk'],
  ['something that never passes', { a: { command: 'x', pass: ['sampling'] } }, 'a.pass.0'],
  ['a name with a slash', { 'a/b': { command: 'x' } }, "'a/b' cannot name a server"],
])('refuses %s', (_, value, message) => {
  expect(() => readMcpServers(value)).toThrow(expect.objectContaining({ code: 'invalid_value' }))
  expect(() => readMcpServers(value)).toThrow(message)
})
