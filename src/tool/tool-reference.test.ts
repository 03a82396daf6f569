import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { compensationOf } from './compensation-of.ts'
import { findOut } from './find-out.ts'
import { targetOf } from './target-of.ts'
import { ToolFailure } from './tool-failure.ts'
import { tool, type Tool } from './tool.ts'

const page = readFileSync(new URL('../../docs/reference/tool.md', import.meta.url), 'utf8')

describe('docs/reference/tool.md', () => {
  it('names every key of a tool', () => {
    const { checkArguments: _, ...keys } = tool({ name: 'a', description: 'A', execute: () => 1 })
    for (const key of Object.keys(keys)) expect(page).toMatch(new RegExp(`^\\|.*\`${key}[\`(]`, 'm'))
  })

  it('shows a tool that does what the page says', async () => {
    const done = new Set<string>()
    const server = createServer((request, response) => {
      const [, what, name] = (request.url ?? '').split('/').map(decodeURIComponent)
      const key = String(request.headers['idempotency-key'])
      const known = what === 'nodes' ? name === 'node-7' : done.has(name!)
      if (what === 'nodes' && known) done.add(key)
      const said = what === 'nodes' ? { cordoned: true } : { state: 'done', result: { cordoned: true } }
      response.writeHead(known ? 200 : 404).end(JSON.stringify(said))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const code = /```ts\n([\s\S]*?)```/.exec(page)![1]!
    const folder = mkdtempSync(join(tmpdir(), 'tool-page-'))
    const file = join(folder, 'cordon.ts')
    const index = fileURLToPath(new URL('../index.ts', import.meta.url))
    writeFileSync(
      file,
      code.replace("'lockstep'", JSON.stringify(index)).replaceAll('https://cluster.example', base),
    )
    try {
      const { cordonNode } = (await import(file)) as { cordonNode: Tool }
      const context = { signal: new AbortController().signal, idempotencyKey: 'r/cordon' }
      const call = { key: 'r/cordon', args: { node: 'node-7' } }
      expect(await findOut(cordonNode, call)).toMatchObject({
        outcome: 'failed',
        found: { note: 'never arrived' },
      })
      expect(await cordonNode.execute(call.args, context)).toEqual({ cordoned: true })
      expect(await findOut(cordonNode, call)).toMatchObject({
        outcome: 'succeeded',
        result: { cordoned: true },
      })
      await expect(cordonNode.execute({ node: 'x/../y' }, context)).rejects.toThrow(
        expect.objectContaining({ code: new ToolFailure('').code }) as Error,
      )
      expect(targetOf(cordonNode, call.args)).toBe('node/node-7')
      expect(compensationOf(cordonNode, call.args, null)).toEqual({
        tool: 'cluster.uncordon_node',
        args: { node: 'node-7' },
      })
    } finally {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    }
  })
})
