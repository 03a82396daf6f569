/** The smallest MCP server there is, for the bench to call. */
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

serveStdio(() => {
  const server = new Server({ name: 'echo', version: '1' }, { capabilities: { tools: {} } })
  const inputSchema = { type: 'object' as const, properties: { number: { type: 'number' } } }
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'echo', inputSchema }] }))
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
  }))
  return server
})
