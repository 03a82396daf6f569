import { generateText, isStepCount, jsonSchema } from 'ai'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '../src/agent/agent.ts'
import { answeringModel } from '../src/agent/answering-model.ts'
import { Playbook } from '../src/playbook/playbook.ts'
import { tool } from '../src/tool/tool.ts'
import { percentile, times, type Row } from './measure.ts'

const input = {
  type: 'object',
  properties: { order_id: { type: 'string' } },
  required: ['order_id'],
} as const

/** How many turns with one call a run has; the last turn is the answer. */
const turns = 10

const playbook = new Playbook({
  id: 'orders',
  name: 'Orders',
  steps: Array.from({ length: turns }, (_, index) => ({
    id: `look_${index}`,
    description: `Look order ${index} up.`,
    expectedTools: ['lookup_order'],
  })),
  rules: [{ tool: 'lookup_order', require: 'args.order_id != ""' }],
})

/** A model that thinks for so long and answers: a call in each turn, then a text. */
function model(thinkMs: number) {
  return answeringModel({ provider: 'bench', modelId: 'bench' }, async ({ prompt }) => {
    if (thinkMs > 0) await sleep(thinkMs)
    const answered = prompt.filter(({ role }) => role === 'assistant').length
    if (answered >= turns) return { content: [{ type: 'text', text: 'Done.' }] }
    return {
      content: [
        {
          type: 'tool-call',
          toolCallId: `call_${answered}`,
          toolName: 'lookup_order',
          input: `{"order_id":"ORD-${answered}"}`,
        },
      ],
    }
  })
}

const work = ({ order_id }: { order_id: string }) => ({ order_id, total: 30 })

async function bare(thinkMs: number): Promise<void> {
  const tools = {
    lookup_order: {
      description: 'Looks an order up.',
      inputSchema: jsonSchema<{ order_id: string }>(input),
      execute: async (args: { order_id: string }) => work(args),
    },
  }
  const { text } = await generateText({
    model: model(thinkMs),
    prompt: 'go',
    tools,
    stopWhen: isStepCount(turns + 1),
  })
  if (text !== 'Done.') throw new Error('the bare loop did not come to its end')
}

function agents(thinkMs: number): { readonly held: Agent; readonly free: Agent } {
  const lookup = tool({
    name: 'lookup_order',
    description: 'Looks an order up.',
    input,
    risk: 'read',
    execute: work,
  })
  return {
    held: new Agent({ model: model(thinkMs), tools: [lookup], playbook }),
    free: new Agent({ model: model(thinkMs), tools: [lookup] }),
  }
}

async function lockstep(agent: Agent): Promise<void> {
  const { status } = await agent.run('go')
  if (status !== 'succeeded') throw new Error('the agent did not succeed')
}

async function microsecondsPerTurn(run: () => Promise<void>): Promise<number> {
  const start = process.hrtime.bigint()
  await run()
  return Number(process.hrtime.bigint() - start) / 1000 / (turns + 1)
}

/** The times of one turn, of the bare loop and of agents, in turn, so that whatever else the machine does meets all of them alike. */
async function measure(thinkMs: number, count: number) {
  const { held, free } = agents(thinkMs)
  const kinds = { bare: () => bare(thinkMs), free: () => lockstep(free), held: () => lockstep(held) }
  const samples: Record<keyof typeof kinds, number[]> = { bare: [], free: [], held: [] }
  for (let sample = -Math.ceil(count / 7); sample < count; sample++) {
    for (const name of Object.keys(kinds) as (keyof typeof kinds)[]) {
      const spent = await microsecondsPerTurn(kinds[name])
      if (sample >= 0) samples[name].push(spent)
    }
  }
  return samples
}

/** What Lockstep adds to one turn of a model with one tool call, against the bare loop of the AI SDK in the same process. */
export async function run(): Promise<Row[]> {
  const atOnce = await measure(0, 400)
  const thinking = await measure(20, 25)
  return [
    times('one turn with one call, the AI SDK alone', atOnce.bare),
    times('the same, an agent without a playbook', atOnce.free),
    times('the same, an agent held to a playbook', atOnce.held),
    ratio('an agent without a playbook / the AI SDK alone', atOnce.free, atOnce.bare, null),
    ratio('an agent held to a playbook / the AI SDK alone', atOnce.held, atOnce.bare, 1.1),
    ratio('the same, with a model that thinks for 20 ms', thinking.held, thinking.bare, 1.1),
  ]
}

function ratio(what: string, list: readonly number[], base: readonly number[], goal: number | null): Row {
  return {
    what,
    unit: '×',
    p50: percentile(list, 0.5) / percentile(base, 0.5),
    p99: percentile(list, 0.99) / percentile(base, 0.99),
    goal,
  }
}
