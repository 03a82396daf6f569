import { compileExpression } from '../src/expression/compile-expression.ts'
import { Playbook } from '../src/playbook/playbook.ts'
import type { PlaybookDefinition } from '../src/playbook/playbook.ts'
import { PlaybookLoader } from '../src/source/playbook-loader.ts'
import { PlaybookEnforcer } from '../src/tool/playbook-enforcer.ts'
import { microseconds, percentile, times, type Row } from './measure.ts'

/** What one judged and recorded call costs, and what that depends on. */
export function run(): Row[] {
  return [...bySteps(), ...byHistory(), ...byRules(), loading(), ...expressions()]
}

function bySteps(): Row[] {
  return [3, 100, 10_000].map((count) => {
    const playbook = new Playbook(chain(count))
    const tools = playbook.steps.map((step) => step.expectedTools[0]!)
    const group = Math.min(count, 100)
    // Each group works through other steps of one run, and a new run begins when they are used up.
    let enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    let from = 0
    const samples = microseconds(
      () => {
        if (from + group > count) {
          enforcer = PlaybookEnforcer.fromPlaybook(playbook)
          from = 0
        }
        from += group
      },
      (_, index) => {
        const tool = tools[from - group + index]!
        enforcer.validateToolCall(tool)
        enforcer.recordToolCall(tool)
      },
      { group, samples: count === 3 ? 20_000 : 2_000 },
    )
    if (!enforcer.plan.executions[from - 1]!.completedAt) throw new Error('the calls were not credited')
    return times(`validate + record, ${count.toLocaleString('en')} steps`, samples, count === 100 ? 2 : null)
  })
}

function byHistory(): Row[] {
  const playbook = new Playbook(repeating())
  let number = 0
  const lookUp = (enforcer: PlaybookEnforcer) => {
    const { allowed } = enforcer.validateToolCall('look_up', { arguments: { order_id: `ORD-${number++}` } })
    if (!allowed) throw new Error('the call was refused')
    enforcer.recordToolCall('look_up')
  }
  const withPast = (past: number) => {
    const enforcer = PlaybookEnforcer.fromPlaybook(playbook)
    for (let call = 0; call < past; call++) lookUp(enforcer)
    return enforcer
  }
  const long = withPast(100_000)
  const options = { group: 20, samples: 1_000 }
  const rows = [0, 100, 100_000].map((past) => ({
    past,
    samples: microseconds(() => (past === 100_000 ? long : withPast(past)), lookUp, options),
  }))
  // A handful of calls sits in the processor's cache; from there on, nothing but larger hash tables may cost more.
  const growth = percentile(rows[2]!.samples, 0.5) / percentile(rows[1]!.samples, 0.5)
  return [
    ...rows.map(({ past, samples }) =>
      times(`validate + record, ${past.toLocaleString('en')} past calls, a rule on them`, samples),
    ),
    { what: 'growth from 100 to 100,000 past calls', unit: '×', p50: growth, p99: null, goal: 2 },
  ]
}

function byRules(): Row[] {
  return [0, 10, 100].map((count) => {
    const rules = Array.from({ length: count }, (_, index) => ({
      tool: 'tool_*',
      require: `args.amount <= ${100 + index} and args.order_id == inputs.order_id`,
    }))
    const playbook = new Playbook({ ...chain(100), inputs: { order_id: 'string' }, rules })
    const samples = microseconds(
      () => PlaybookEnforcer.fromPlaybook(playbook, { inputs: { order_id: 'ORD-42' } }),
      (enforcer, index) => {
        const { allowed } = enforcer.validateToolCall(`tool_${index}`, {
          arguments: { order_id: 'ORD-42', amount: 30 },
        })
        if (!allowed) throw new Error('the call was refused')
        enforcer.recordToolCall(`tool_${index}`)
      },
      { group: 100, samples: 1_000 },
    )
    return times(
      `validate + record, 100 steps, ${count} rules on the arguments`,
      samples,
      count === 10 ? 5 : null,
    )
  })
}

function loading(): Row {
  const text = JSON.stringify(new Playbook(chain(1_000)).toJSON(), null, 2)
  const yaml = text.replace(/^/, '# a thousand steps\n')
  const samples = microseconds(
    () => null,
    () => new PlaybookLoader().loadYamlString(yaml),
    { group: 1, samples: 20 },
  )
  return {
    what: 'load a file of 1,000 steps',
    unit: 'ms',
    p50: percentile(samples, 0.5) / 1000,
    p99: percentile(samples, 0.99) / 1000,
    goal: null,
  }
}

function expressions(): Row[] {
  const source = 'args.amount <= 100 and args.order_id == inputs.order_id'
  const { expression } = compileExpression<null>(source, { profile: 'condition', names: ['args', 'inputs'] })
  const values = [{ amount: 30, order_id: 'ORD-42' }, { order_id: 'ORD-42' }] as const
  const closure = ([args, inputs]: typeof values) => args.amount <= 100 && args.order_id === inputs.order_id
  const options = { group: 10_000, samples: 300 }
  let held = 0
  const ours = microseconds(
    () => null,
    () => {
      if (expression!.evaluate(values, null) === true) held++
    },
    options,
  )
  const plain = microseconds(
    () => null,
    () => {
      if (closure(values)) held++
    },
    options,
  )
  if (held === 0) throw new Error('the condition should hold')
  return [
    times(`evaluate ${source}`, ours),
    {
      what: 'the same as a ratio to a plain JavaScript closure',
      unit: '×',
      p50: percentile(ours, 0.5) / percentile(plain, 0.5),
      p99: null,
      goal: null,
    },
  ]
}

function chain(count: number): PlaybookDefinition {
  return {
    id: 'chain',
    name: 'Chain',
    steps: Array.from({ length: count }, (_, index) => ({
      id: `step_${index}`,
      description: `Step ${index}`,
      expectedTools: [`tool_${index}`],
    })),
  }
}

function repeating(): PlaybookDefinition {
  return {
    id: 'repeating',
    name: 'Repeating',
    steps: [{ id: 'look', description: 'Look up', expectedTools: ['look_up', 'conclude'] }],
    rules: [
      {
        tool: 'look_up',
        require: 'not succeeded("look_up", order_id=args.order_id)',
        message: 'looked up before',
      },
    ],
  }
}
