import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PracticeService } from '../../practice/practice-service.ts'
import type { JsonObject } from '../../shared/json.ts'
import { compensationOf } from '../../tool/compensation-of.ts'
import { dryRunTool } from '../../tool/dry-run-tool.ts'
import { findOut } from '../../tool/find-out.ts'
import { targetOf } from '../../tool/target-of.ts'
import { SecretVault } from '../secret-vault.ts'
import { createHttpTool, type HttpToolDeclaration } from './http-tool.ts'

let folder: string
let service: PracticeService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'http-reconcile-'))
  service = await PracticeService.start({ file: join(folder, 'practice.db') })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

const signal = new AbortController().signal

function make(declared: Partial<HttpToolDeclaration> = {}, inputs: JsonObject = {}) {
  return createHttpTool(
    {
      name: 'cordon',
      description: 'Cordons a node.',
      input: null,
      risk: 'write',
      timeoutSeconds: 100,
      maxResultBytes: 10_000,
      method: 'POST',
      url: `${service.url}/nodes/{args.node}/cordon`,
      headers: {},
      query: {},
      body: undefined,
      statusesWithoutEffect: [404, 409, 422],
      target: 'node/{args.node}',
      idempotent: true,
      idempotencyHeader: 'Idempotency-Key',
      compensate: {
        tool: 'uncordon',
        input: { node: '{args.node}', was: '{result.changed}', by: '{inputs.by}' },
      },
      reconcile: {
        url: `${service.url}/keys/{key}`,
        headers: null,
        applied: 'status == 200 and body.state == "applied"',
        notApplied: 'status == 404 and body.state == "none"',
        result: '{body.answer}',
      },
      ...declared,
    },
    { vault: new SecretVault({ TOKEN: 'token-123456' }), inputs },
  )
}

async function effects(): Promise<JsonObject[]> {
  const answer = (await (await fetch(`${service.url}/effects`)).json()) as { effects: JsonObject[] }
  return answer.effects
}

async function fault(kind: string): Promise<void> {
  const body = JSON.stringify({ tool: 'practice.cordon_node', kind, ms: 200 })
  await fetch(`${service.url}/faults`, { method: 'POST', body })
}

describe('an http tool that is declared with what is known of its effects', () => {
  it('carries its key, so that sending it again has no further effect', async () => {
    const tool = make()
    const call = () => tool.execute({ node: 'node-1' }, { signal, idempotencyKey: 'r_1/a b' })
    expect(await call()).toMatchObject({ changed: true })
    expect(await call()).toMatchObject({ changed: true })
    expect((await effects()).map(({ key }) => key)).toEqual(['r_1/a b'])
  })

  it('finds out by its key that a call was made, was not, or is not known to be', async () => {
    const tool = make({ idempotent: false })
    const call = { key: 'r_1/b', args: { node: 'node-2' } }
    expect(await findOut(tool, call)).toEqual({ outcome: 'failed', found: { how: 'reconciled' } })
    await fault('cut')
    await expect(tool.execute(call.args, { signal, idempotencyKey: call.key })).rejects.toThrow(
      'cannot be reached',
    )
    expect(await findOut(tool, call)).toMatchObject({
      outcome: 'succeeded',
      result: { node: 'node-2', cordoned: true, changed: true },
    })
    await fault('delay')
    const slow = tool.execute({ node: 'node-3' }, { signal, idempotencyKey: 'r_1/c' })
    await expect
      .poll(async () => (await findOut(tool, { key: 'r_1/c', args: { node: 'node-3' } })).outcome, {
        interval: 10,
      })
      .toBe('unknown')
    await slow
  })

  it('takes an answer other than 2xx, 404 or 410 for none, and a condition that cannot be worked out too', async () => {
    const server: Server = createServer((request, response) => {
      const status = Number(request.url?.slice(1))
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"state":"none"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = async (status: string, applied: string, notApplied: string | null = null) => {
      const reconcile = { url: `${base}/{args.status}`, headers: {}, applied, notApplied, result: undefined }
      const tool = make({ reconcile, idempotent: false })
      return (await findOut(tool, { key: 'k', args: { status } })).outcome
    }
    const said = 'body.state == "applied"'
    expect(await ask('200', said)).toBe('failed')
    expect(await ask('404', said)).toBe('failed')
    for (const status of ['500', '503', '401', '403', '429']) expect(await ask(status, said)).toBe('unknown')
    expect(await ask('200', 'body.missing == 1')).toBe('unknown')
    // Only what says so plainly is not applied, where that has words of its own.
    expect(await ask('200', said, 'status == 404')).toBe('unknown')
    expect(await ask('404', said, 'status == 404')).toBe('failed')
    expect(await ask('404', 'status == 404', 'status == 404')).toBe('unknown')
    server.closeAllConnections()
    server.close()
  })

  it('says what a call acts on and what undoes it', () => {
    const tool = make({}, { by: 'ann' })
    expect(targetOf(tool, { node: 'node-1' })).toBe('node/node-1')
    expect(targetOf(tool, {})).toBeNull()
    expect(compensationOf(tool, { node: 'node-1' }, { changed: true })).toEqual({
      tool: 'uncordon',
      args: { node: 'node-1', was: true, by: 'ann' },
    })
    expect(compensationOf(tool, { node: 'node-1' }, 'no object')).toHaveProperty('error')
  })

  it('is shown and not sent in a dry run, with its key and without its secrets', async () => {
    const before = (await effects()).length
    const reference = { from: 'env', name: 'TOKEN' } as const
    const headers = { authorization: { kind: 'secret', prefix: 'Bearer ', reference } } as const
    const dry = dryRunTool(make({ headers, body: { by: '{key}' } }), { callReads: true })
    expect(await dry.execute({ node: 'node-9' }, { signal, idempotencyKey: 'r_1/d' })).toMatchObject({
      would: {
        request: `POST ${service.url}/nodes/node-9/cordon`,
        headers: { authorization: 'Bearer [secret env:TOKEN]', 'idempotency-key': 'r_1/d' },
        body: '{"by":"r_1/d"}',
      },
    })
    expect(await findOut(dry, { key: 'r_1/d', args: { node: 'node-9' } })).toEqual({
      outcome: 'unknown',
      found: null,
    })
    expect(await effects()).toHaveLength(before)
  })
})
