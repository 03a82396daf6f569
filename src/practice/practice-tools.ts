/**
 * Tools that act on the practice service.
 *
 * Invariants
 * T1  A call that writes carries its key, and what became of it is found out by that key.
 * T2  A dry run is given a client that cannot write.
 */
import type { JsonObject } from '../shared/json.ts'
import { tool, type Tool } from '../tool/tool.ts'
import {
  createPracticeReader,
  createPracticeWriter,
  type PracticeAddress,
  type PracticeReader,
} from './practice-client.ts'
import { type Args, changes, looks, type Change } from './practice-declaration.ts'

/** The practice tools, which find the service at the address when one of them is called. */
export function createPracticeTools(address: PracticeAddress): Tool[] {
  const reader = createPracticeReader(address)
  return [
    ...looks.map(({ name, description, input: schema, path }) =>
      tool<Args>({
        name: `practice.${name}`,
        description,
        risk: 'read',
        input: schema,
        timeoutSeconds: 30,
        execute: (args, { signal }) => reader.get(path(args), signal),
        dryRun: (args) => ({ request: `GET ${path(args)}` }),
      }),
    ),
    ...changes.map((change) => changeTool(change, address, reader)),
  ]
}

function changeTool(change: Change, address: PracticeAddress, reader: PracticeReader): Tool {
  const writer = createPracticeWriter(address)
  const { name, description, risk, thing, plan, done, undo, finds } = change
  const place = (args: Args) => {
    const [, plural, id] = thing(args)
    return `/${plural}/${encodeURIComponent(id)}`
  }
  const path = (args: Args) => `${place(args)}/${change.verb}`
  const body = (args: Args): JsonObject =>
    Object.fromEntries(
      (change.body ?? []).flatMap((key) => (args[key] === undefined ? [] : [[key, args[key]]])),
    )
  return tool<Args>({
    name: `practice.${name}`,
    description,
    risk,
    input: change.input,
    timeoutSeconds: 30,
    target(args) {
      const [kind, , id] = thing(args)
      return `${kind}/${id}`
    },
    execute: (args, { idempotencyKey, signal }) =>
      writer.post(path(args), body(args), idempotencyKey, signal),
    async dryRun(args, { signal }) {
      const now = await reader.get(place(args), signal)
      return { plan: plan(args, now), request: `POST ${path(args)}`, body: body(args) }
    },
    ...(undo === undefined ? {} : { compensate: undo as never }),
    ...(finds === 'idempotent' ? { idempotent: true } : {}),
    ...(finds === 'reconcile'
      ? {
          async reconcile(key: string, _: Args, { signal }: { readonly signal: AbortSignal }) {
            const kept = await reader.lookUp(key, signal)
            if (kept === 'in_progress') return { outcome: 'unknown', note: 'still in progress' }
            return kept === null
              ? { outcome: 'failed', note: 'not applied' }
              : { outcome: 'succeeded', result: kept, note: done(kept) }
          },
        }
      : {}),
  })
}
