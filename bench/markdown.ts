import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { Agent } from '../src/agent/agent.ts'
import { answeringModel } from '../src/agent/answering-model.ts'
import { numberQuestions, questionsOf, type AskedQuestions } from '../src/agent/question/asked-questions.ts'
import { countingModel } from '../src/agent/question/counting-model.ts'
import { questionPrompt } from '../src/agent/question/question-prompt.ts'
import { writeAnswers } from '../src/agent/question/write-answers.ts'
import { parseProgram } from '../src/playbook/markdown/parse-program.ts'
import { programPlaybook } from '../src/playbook/program-playbook.ts'
import type { Program, ValueType } from '../src/playbook/program.ts'
import type { Answer, Question } from '../src/run/program/question.ts'
import type { Json } from '../src/shared/json.ts'
import { programTool } from '../src/playbook/program-tool.ts'
import { tool, type Tool } from '../src/tool/tool.ts'
import { percentile, type Row } from './measure.ts'

const order = { order_id: 'ORD-42', total: 30, items: [{ name: 'kettle', price: 22 }] }
const delivery = { order_id: 'ORD-42', status: 'packed', expected_delivery_date: '2026-12-01' }

/** What the examples call. */
const shop: readonly Tool[] = [
  reading('validate_token', ['token'], { valid: true }),
  reading('get_order_status', ['order_id'], delivery),
  reading('GetOrderStatus', ['order_id'], delivery),
  reading('lookup_order', ['order_id'], order),
  reading('hand_over', ['order_id', 'reason'], { handed_over: true }),
]

function reading(name: string, parameters: readonly string[], result: Json): Tool {
  const properties = Object.fromEntries(parameters.map((parameter) => [parameter, {}]))
  const input = { type: 'object', properties } as const
  return tool({ name, description: name, risk: 'read', input, execute: () => result })
}

const samples: Readonly<Record<ValueType, Json>> = {
  any: 'a sample',
  str: 'a sample',
  int: 7,
  float: 7.5,
  bool: true,
  list: ['a', 'b'],
  dict: { a: 1 },
}

/** What a run asked, and what the same questions would have taken one by one. */
interface Asked {
  questions: number
  singleCharacters: number
  /** How many requests there were after each thing a person said, from the beginning on. */
  readonly perTurn: number[]
}

/** A model that answers anything plausibly: it judges true, then false; every value is found; a text is a sentence. */
function plausibleModel(asked: Asked): LanguageModelV4 {
  const judged = new Map<string, number>()
  const answerTo = (question: Question): Answer => {
    switch (question.kind) {
      case 'judge': {
        const times = judged.get(question.id) ?? 0
        judged.set(question.id, times + 1)
        return { kind: 'judge', value: times % 2 === 0, reason: 'it seems so' }
      }
      case 'write':
        return { kind: 'write', text: 'This is a sentence.' }
      case 'match':
        return { kind: 'match', matched: [] }
      case 'extract':
        return {
          kind: 'extract',
          values: Object.fromEntries(question.slots.map(({ name, type }) => [name, samples[type]])),
        }
    }
  }
  return answeringModel({ provider: 'bench', modelId: 'bench' }, async ({ prompt }) => {
    asked.perTurn[asked.perTurn.length - 1]!++
    const questions = questionsOf(prompt)
    if (questions === null) {
      asked.questions++
      asked.singleCharacters += JSON.stringify(prompt).length
      return { content: [{ type: 'text', text: 'It is done.' }] }
    }
    countSingly(questions, asked)
    const answers = new Map(questions.asked.map(({ question }) => [question.id, answerTo(question)]))
    return { content: [{ type: 'text', text: writeAnswers(questions, answers) }] }
  })
}

function countSingly({ batch }: AskedQuestions, asked: Asked): void {
  for (const question of batch.questions) {
    asked.questions++
    asked.singleCharacters += JSON.stringify(
      questionPrompt(numberQuestions({ ...batch, questions: [question] })),
    ).length
  }
}

interface Source {
  readonly name: string
  readonly text: string
}

/** Runs a program to its end with a person who says the same a few times; null where it cannot be read. */
async function runProgram({ name, text }: Source) {
  const { program } = parseProgram([{ file: name, text }], { tools: shop.map(programTool) })
  if (program === null) return null
  const asked: Asked = { questions: 0, singleCharacters: 0, perTurn: [0] }
  const model = countingModel(plausibleModel(asked))
  const own = hostFunctions(program)
  const agent = new Agent({
    model: model.model,
    playbook: programPlaybook(program, 'bench'),
    tools: [...shop, ...own],
  })
  const says = Array.from({ length: 6 }, () => '7')
  const hear = async () => {
    asked.perTurn.push(0)
    return says.shift() ?? null
  }
  const { parameters = [] } = entryOf(program) ?? {}
  const inputs = Object.fromEntries(
    parameters.flatMap((each) => (each.default === undefined ? [[each.name, samples[each.type]]] : [])),
  )
  const { snapshot, status, reason } = await agent.run('', { person: { hear }, inputs })
  const count = (type: string) => snapshot.entries.filter((entry) => entry.type === type).length
  // A step that asks again and again is one step.
  const visits = tally(
    snapshot.entries.flatMap(({ type, data }) => (type === 'step.entered' ? [String(data['step'])] : [])),
  )
  const asking = tally(
    snapshot.entries.flatMap(({ type, data }) =>
      type === 'question.asked' ? (data['questions'] as unknown as Question[]).map(({ id }) => id) : [],
    ),
  )
  const leaves = [...visits].reduce((sum, [step, times]) => sum + Math.min(times, asking.get(step) ?? 0), 0)
  return {
    status,
    reason,
    requests: model.requests.length,
    tokens: model.requests.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
    steps: count('step.entered'),
    withoutModel: count('step.entered') - leaves - count('act.begun'),
    singly: asked.questions,
    singleTokens: Math.ceil(asked.singleCharacters / 4),
    perTurn: Math.max(...asked.perTurn),
  }
}

function tally(list: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const each of list) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

/** The playbook that begins: the first that says so, else the first. */
function entryOf(program: Program) {
  const all = program.agents.flatMap(({ playbooks }) => playbooks)
  return all.find(({ triggers }) => triggers.some(({ kind }) => kind === 'begin')) ?? all[0]
}

function hostFunctions(program: Program): Tool[] {
  return program.agents
    .flatMap(({ playbooks }) => playbooks)
    .filter(({ mode }) => mode === 'host')
    .map(({ id, parameters }) =>
      reading(
        id,
        parameters.map(({ name }) => name),
        10,
      ),
    )
}

/** Everything that needs no one who understands language. */
const deterministic: Source = {
  name: 'all that is deterministic',
  text: `# Shop

## Main

### Triggers
- At the beginning

### Steps
- $total = 0
- $cart = [{"price": 2, "quantity": 3}, {"price": 5, "quantity": 30}]
- For each $product in $cart
  - $cost = $product.price * $product.quantity
  - Add $cost to $total
- If $total > 100
  - Say "Shipping is free, your total is $total."
- Otherwise
  - $shipping = Shipping(2)
- While $total > 100
  - Set $total to $total - 50
- Ask user for $order_id
- $status = get_order_status($order_id)
- Extract $expected_delivery_date from $status
- Say "It comes on {$expected_delivery_date}."
- End program

## Shipping($weight:int)

### Steps
- Return $weight * 3

## Thank you

### Triggers
- When $total exceeds 150

### Steps
- Say "Thank you for buying so much."
`,
}

/** The order status flow as the language's own page has it. */
const orderStatus: Source = {
  name: "the page's order status flow",
  text: `## CheckOrderStatusFlow($authToken)
Check the status of an order.

### Trigger
- When the user is authenticated and requests order status

### Steps
- Ask user for $order_id
- Get $order_status
- Extract $expected_delivery_date from $order_status
- Tell user when their order will be delivered

### Notes
- The $order_status dictionary includes the keys: order_id, expected_delivery_date.
- Always confirm that $authToken is valid before calling GetOrderStatus.
`,
}

function programsIn(folder: string | URL, ending: RegExp): Source[] {
  const path = folder instanceof URL ? folder.pathname : folder
  return readdirSync(path)
    .filter((file) => ending.test(file))
    .toSorted()
    .map((file) => ({ name: basename(file), text: readFileSync(join(path, file), 'utf8') }))
}

async function programRows(): Promise<Row[]> {
  const fixtures = process.env['LOCKSTEP_FIXTURES']
  if (fixtures === undefined)
    process.stdout.write('LOCKSTEP_FIXTURES is not set: programs of others are left out.\n')
  const sources = [
    ...programsIn(new URL('../examples/', import.meta.url), /\.md$/),
    ...(fixtures === undefined ? [] : programsIn(join(fixtures, 'playbooks-programs'), /\.(?:pb|md)$/)),
  ]
  const rows: Row[] = []
  for (const source of sources) {
    const ran = await runProgram(source)
    if (ran === null) {
      process.stdout.write(`${source.name} cannot be read as it is, and is left out.\n`)
      continue
    }
    const number = (value: number) => value.toLocaleString('en')
    process.stdout.write(
      `${source.name}: ${ran.status}${ran.reason === null ? '' : ` (${ran.reason})`}; ${ran.requests} requests, ` +
        `${number(ran.tokens)} prompt tokens; ${ran.withoutModel} of ${ran.steps} steps without a model; ` +
        `one request a step in words: ${ran.singly} requests, ${number(ran.singleTokens)} prompt tokens\n`,
    )
    rows.push({
      what: `${source.name}, requests`,
      unit: 'requests',
      p50: ran.requests,
      p99: null,
      goal: ran.singly,
    })
  }
  const plain = (await runProgram(deterministic))!
  if (plain.status !== 'succeeded')
    throw new Error(`the deterministic program did not succeed: ${plain.reason}`)
  const status = (await runProgram(orderStatus))!
  return [
    ...rows,
    {
      what: `${deterministic.name}, ${plain.steps} steps`,
      unit: 'requests',
      p50: plain.requests,
      p99: null,
      goal: 0,
    },
    {
      what: `${orderStatus.name}, a turn of the person at most`,
      unit: 'requests',
      p50: status.perTurn,
      p99: null,
      goal: 1,
    },
  ]
}

/** A program of about so many bytes: playbooks of a dozen bullets of every kind, no two of them alike. */
function programOf(bytes: number): string {
  return repeated('# Desk\n', bytes, (number) => {
    const [given, total, name, date, list] = ['given', 'total', 'name', 'date', 'list'].map(
      (word) => `$${word}_${number}`,
    )
    return `
## Playbook ${number}(${given}:int=1)
What playbook ${number} is about: {${given}}.

### Steps
- ${total} = ${given} * 2 + ${number}
- If ${total} > ${number + 100}
  - Say "It is ${total}, which is ${number} more than a lot."
- Otherwise
  - Tell user that it is not much more than ${number}
- Ask user for ${name}
- Extract ${date} from the conversation
- ${list} = [1, 2, ${number}]
- For each $item_${number} in ${list}
  - Add $item_${number} to ${total}
- Explain to the user, in ${number} sentences, what was found and why it matters to them
- Return ${total}

### Notes
- Be brief, and promise nothing before ${number} o'clock.
`
  })
}

/** A playbook of about so many bytes whose bullets are all left to a model. */
function proseOf(bytes: number): string {
  const verbs = ['Look at', 'Compare', 'Consider', 'Review', 'Examine', 'Go through', 'Weigh']
  return repeated('## Main\n\n### Steps\n', bytes, (number) => {
    const verb = verbs[number % verbs.length]!
    return `- ${verb} what customer number ${number} wrote last week, and decide whether it should be handled with care or left as it was\n`
  })
}

function repeated(head: string, bytes: number, part: (number: number) => string): string {
  const parts = [head]
  for (let size = 0, number = 1; size < bytes; number++) {
    const next = part(number)
    parts.push(next)
    size += next.length
  }
  return parts.join('')
}

/** The best of some runs, in milliseconds: what else the machine does only makes it slower. */
function best(work: () => void, runs: number): number {
  const samples = Array.from({ length: runs }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return percentile(samples, 0)
}

/** How fast a text is read once the code is warm, and how fast the same text is only split into lines. */
function measureReading(text: string): { megabytes: number; parse: number; split: number } {
  const megabytes = text.length / 1_000_000
  const read = (): void => {
    const { program } = parseProgram([{ file: 'big.md', text }])
    if (program === null) throw new Error('the generated program cannot be read')
  }
  // As many megabytes for each size, so that none is read by colder code than another.
  const runs = Math.ceil(12 / megabytes)
  return { megabytes, parse: best(read, runs), split: best(() => void text.split('\n'), runs) }
}

function parseRows(): Row[] {
  measureReading(programOf(240_000))
  const measured = [60_000, 240_000, 960_000].map((size) => measureReading(programOf(size)))
  const rows = measured.flatMap(({ megabytes, parse, split }): Row[] => [
    speedRow('a program', megabytes, parse),
    {
      what: `the same against splitting it into lines`,
      unit: '×',
      p50: parse / split,
      p99: null,
      goal: null,
    },
  ])
  const prose = measureReading(proseOf(960_000))
  const [first, last] = [measured[0]!, measured.at(-1)!]
  const growth = last.parse / last.megabytes / (first.parse / first.megabytes)
  return [
    ...rows,
    {
      what: 'growth of the time for each MB, from 0.06 to 0.96 MB',
      unit: '×',
      p50: growth,
      p99: null,
      goal: 1.5,
    },
    speedRow('prose', prose.megabytes, prose.parse),
  ]
}

function speedRow(what: string, megabytes: number, parse: number): Row {
  const speed = (megabytes / (parse / 1000)).toFixed(1)
  return {
    what: `reading ${what}, ${megabytes.toFixed(2)} MB, for each MB (${speed} MB/s)`,
    unit: 'ms',
    p50: parse / megabytes,
    p99: null,
    goal: 100,
  }
}

/** How often programs ask a model, against one request for each step in words; and how fast they are read. */
export async function run(): Promise<Row[]> {
  return [...(await programRows()), ...parseRows()]
}
