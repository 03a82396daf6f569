/**
 * A tour of typed playbooks in ten parts, each with a model call beside the mechanics. Offline by default, with answers from a
 * script; on a real model with one variable:
 *
 *     npm run example:playbooks
 *     LOCKSTEP_MODEL=openai:gpt-5-mini npm run example:playbooks
 */
import {
  Agent,
  definePlaybook,
  Playbook,
  PlaybookPlan,
  PlaybookStep,
  StepExecution,
  StepStatus,
  tool,
} from '../src/index.ts'
import { scriptedModel, type ScriptedTurn } from '../src/testing/index.ts'

const chosen = process.env['LOCKSTEP_MODEL']

/** The chosen model, or one that says what the script says. */
function model(...turns: ScriptedTurn[]) {
  return chosen ?? scriptedModel({ turns })
}

async function ask(prompt: string, offline: string, maxTokens = 100): Promise<string> {
  const agent = new Agent({
    model: model({
      text: offline,
      usage: { prompt: Math.ceil(prompt.length / 4), completion: Math.ceil(offline.length / 4) },
    }),
    systemPrompt: 'Reply in one short sentence.',
    maxTokens,
  })
  const { message, reason, metrics } = await agent.run(prompt)
  if (reason !== null) throw new Error(reason)
  const { promptTokens, completionTokens, modelSeconds } = metrics
  console.log(`  [model call: ${modelSeconds.toFixed(2)}s · ${promptTokens}→${completionTokens} tokens]`)
  return message.trim()
}

const rule = '='.repeat(60)
console.log(`${rule}\nPlaybooks\n${rule}`)

console.log('\n=== Part 1: Creating Playbook Steps ===\n')
const gather = new PlaybookStep({
  id: 'gather_logs',
  description: 'Collect relevant log files from the affected services',
  expectedTools: ['read_file', 'search_logs'],
  hints: ['Start with the most recent logs', 'Look for ERROR and WARN levels'],
  maxToolCalls: 5,
})
const analyze = new PlaybookStep({
  id: 'analyze_errors',
  description: 'Analyze the collected logs for error patterns',
  expectedTools: ['analyze_logs', 'count_errors'],
  hints: ['Group errors by type', 'Note timestamps'],
})
const metrics = new PlaybookStep({
  id: 'check_metrics',
  description: 'Review system metrics during the incident window',
  expectedTools: ['query_metrics', 'get_dashboard'],
  hints: ['Focus on CPU, memory, and network'],
  required: false,
})
const summarize = new PlaybookStep({
  id: 'summarize_findings',
  description: 'Create a summary of findings and recommendations',
  hints: ['Include root cause if identified'],
})
console.log(`  Step: ${gather.id} (${gather.expectedTools.length} expected tools)`)
console.log(
  `AI rationale: ${await ask(
    'In one sentence, why does an incident-response playbook benefit from having `expected_tools` declared per step?',
    'Because whatever is not declared cannot be called, and what was called can be checked against what was meant.',
  )}`,
)

console.log('\n=== Part 2: Creating a Playbook ===\n')
const playbook = new Playbook({
  id: 'incident_investigation',
  name: 'Incident Investigation Playbook',
  description: 'Standard procedure for investigating production incidents',
  version: '1.0.0',
  steps: [gather, analyze, metrics, summarize],
  strictSequence: true,
  allowExtraTools: true,
  maxIterations: 20,
  tags: ['incident', 'investigation', 'production'],
})
console.log(`  Playbook: ${playbook.name} v${playbook.version} steps=${playbook.steps.length}`)
console.log(
  `AI description: ${await ask(
    `Describe this playbook in two sentences: ${playbook.description}. Steps: ${playbook.steps.map(({ id }) => id).join(', ')}.`,
    'It walks an investigation from logs to findings. Metrics may be skipped, everything else may not.',
    160,
  )}`,
)

console.log('\n=== Part 3: Execution Plans ===\n')
const plan = new PlaybookPlan({ playbook })
plan.stepExecutions['gather_logs'] = new StepExecution({
  stepId: 'gather_logs',
  status: StepStatus.COMPLETED,
  startedAt: new Date(),
  completedAt: new Date(),
  toolCalls: ['read_file', 'search_logs', 'read_file'],
  result: 'Found 15 error entries in app.log',
})
plan.currentStepIndex = 1
console.log(`  Progress: ${percent(plan.progress)}  current_step=${plan.currentStep?.id}`)
console.log(
  `AI next-step suggestion: ${await ask(
    `The previous step '${plan.completedSteps[0]}' completed and found 15 error entries. The next step is '${plan.currentStep?.id}'. Suggest one specific tool call for that step.`,
    'Call count_errors on app.log, grouped by type.',
    80,
  )}`,
)

console.log('\n=== Part 4: Step Status Tracking ===\n')
for (const status of Object.values(StepStatus)) console.log(`  - ${status}`)
console.log(`  isStepComplete('gather_logs') = ${plan.isStepComplete('gather_logs')}`)
console.log(
  `AI summary: ${await ask(
    'In one sentence, when should an SRE mark a playbook step as SKIPPED rather than FAILED?',
    'When the step was not needed; FAILED says that it was tried, or needed, and did not work.',
    80,
  )}`,
)

console.log('\n=== Part 5: Playbook Validation ===\n')
const validated = new PlaybookStep({
  id: 'validate_fix',
  description: 'Verify the fix is working',
  expectedTools: ['run_tests', 'check_health'],
  validation: { minToolCalls: 1, requiredResultKeywords: ['passed', 'healthy'] },
})
console.log(`  Step: ${validated.id}  validation=${JSON.stringify(validated.validation)}`)
console.log(
  `AI judgment: ${await ask(
    `This step requires the result to contain ${validated.validation.requiredResultKeywords?.join(' and ')}. If the actual result is 'tests passed: 12, services healthy', does it satisfy the validation? Reply YES or NO with one-word reason.`,
    'YES: both.',
    40,
  )}`,
)

console.log('\n=== Part 6: Playbook Metadata ===\n')
const escalate = new PlaybookStep({
  id: 'escalate',
  description: 'Escalate if issue persists',
  expectedTools: ['send_alert', 'page_oncall'],
  metadata: {
    severity_threshold: 'high',
    escalation_timeout_minutes: 30,
    notify_channels: ['#incidents', '#oncall'],
  },
})
console.log(`  metadata: ${JSON.stringify(escalate.metadata)}`)
console.log(
  `AI suggestion: ${await ask(
    'Suggest one extra metadata field a production-grade incident playbook step should carry, with a one-line rationale.',
    'owner_team: so that whoever reads the record knows whom to ask.',
    80,
  )}`,
)

console.log('\n=== Part 7: Building Playbooks Programmatically ===\n')
function deploymentPlaybook(environment: string, services: readonly string[]): Playbook {
  return new Playbook({
    id: `deploy_${environment}`,
    name: `${environment[0]!.toUpperCase()}${environment.slice(1)} Deployment`,
    steps: [
      {
        id: 'pre_check',
        description: `Verify ${environment} environment is ready`,
        expectedTools: ['check_health', 'verify_deps'],
      },
      ...services.map((service) => ({
        id: `deploy_${service}`,
        description: `Deploy ${service} to ${environment}`,
        expectedTools: ['deploy', 'wait_healthy'],
        metadata: { service },
      })),
      {
        id: 'post_validate',
        description: 'Validate deployment success',
        expectedTools: ['run_smoke_tests', 'check_metrics'],
      },
    ],
    tags: ['deployment', environment],
  })
}
const production = deploymentPlaybook('production', ['api', 'web', 'worker'])
const generated = production.steps.map(({ id }) => id).join(', ')
console.log(`  Generated: ${production.name}  steps=[${generated}]`)
console.log(
  `AI review: ${await ask(
    `Review this generated deployment playbook: ${generated}. Spot one weakness in one short sentence.`,
    'Nothing undoes a deployment that post_validate finds broken.',
  )}`,
)

console.log('\n=== Part 8: Progress Visualization ===\n')
const shown = new PlaybookPlan({ playbook, currentStepIndex: 1 })
shown.stepExecutions['gather_logs'] = new StepExecution({
  stepId: 'gather_logs',
  status: StepStatus.COMPLETED,
})
shown.stepExecutions['analyze_errors'] = new StepExecution({
  stepId: 'analyze_errors',
  status: StepStatus.IN_PROGRESS,
})
const filled = Math.floor(shown.progress * 20)
console.log(`  [${'#'.repeat(filled)}${'-'.repeat(20 - filled)}] ${percent(shown.progress)}`)
console.log(
  `AI ETA: ${await ask(
    'An incident-investigation playbook has 4 steps. One is done, one is in progress, two are pending. Roughly how long should we expect the remaining work to take? Answer in one short sentence.',
    'About three times as long as the first step took.',
    80,
  )}`,
)

console.log('\n=== Part 9: Best Practices ===\n')
console.log(
  await ask(
    'Write five terse best-practice bullets for designing reliable playbooks. Five bullets only.',
    [
      '- One goal a step.',
      '- Name the tools, and bind their arguments.',
      '- Say how often, not only what.',
      '- Let evidence complete a step, not a claim.',
      '- Test the playbook with an agent that misbehaves.',
    ].join('\n'),
    240,
  ),
)

console.log('\n=== Part 10: Live Agent driving a Playbook ===\n')
const fetchLogs = tool<{ incident_id: string }>({
  name: 'fetch_logs',
  description: 'Fetches the logs of an incident.',
  risk: 'read',
  input: text('incident_id'),
  execute: ({ incident_id }) =>
    `[${incident_id}] 2026-05-03T19:01:14Z ERROR db.pool exhausted (50/50 conns)\n[${incident_id}] 2026-05-03T19:01:18Z ERROR api.handler timeout calling /v1/orders`,
})
const classifySeverity = tool<{ snippet: string }>({
  name: 'classify_severity',
  description: 'Says how severe an excerpt of the logs is.',
  risk: 'read',
  input: text('snippet'),
  execute: ({ snippet }) => (snippet.includes('ERROR') && snippet.includes('exhausted') ? 'P1' : 'P3'),
})
const pageOncall = tool<{ severity: string; incident_id: string }>({
  name: 'page_oncall',
  description: 'Pages whoever is on call.',
  risk: 'write',
  input: text('severity', 'incident_id'),
  execute: ({ severity, incident_id }) => `paged oncall for ${incident_id} at severity ${severity}`,
})
const triage = definePlaybook({
  id: 'incident_triage',
  name: 'Incident triage',
  steps: [
    { id: 'gather', description: 'Pull logs', expectedTools: ['fetch_logs'] },
    { id: 'classify', description: 'Decide severity', expectedTools: ['classify_severity'] },
    { id: 'page', description: 'Page oncall if P1', expectedTools: ['page_oncall'] },
  ],
})
const agent = new Agent({
  model: model(
    {
      calls: [{ tool: 'fetch_logs', arguments: { incident_id: 'INC-42' } }],
      usage: { prompt: 210, completion: 18 },
    },
    {
      calls: [{ tool: 'classify_severity', arguments: { snippet: 'ERROR db.pool exhausted (50/50 conns)' } }],
      usage: { prompt: 290, completion: 22 },
    },
    {
      calls: [{ tool: 'page_oncall', arguments: { severity: 'P1', incident_id: 'INC-42' } }],
      usage: { prompt: 320, completion: 20 },
    },
    {
      text: 'INC-42 is a P1: the database pool is exhausted. The on-call engineer was paged.',
      usage: { prompt: 350, completion: 24 },
    },
  ),
  tools: [fetchLogs, classifySeverity, pageOncall],
  playbook: triage,
  systemPrompt:
    'You are an SRE on call. Follow the playbook steps in order: fetch logs, classify severity, then page oncall if it is P1.',
  maxTokens: 400,
})
const result = await agent.run('Triage incident INC-42.')
const { promptTokens, completionTokens, iterations, modelSeconds } = result.metrics
console.log(
  `  [model call: ${modelSeconds.toFixed(2)}s · ${promptTokens}→${completionTokens} tokens · iters=${iterations}]`,
)
console.log(`Triage outcome: ${result.message.slice(0, 300)}`)
for (const execution of result.playbookPlan.executions) {
  console.log(`  ${execution.stepId}: ${execution.status} (${execution.toolCalls.length} tool calls)`)
}
console.log(`\n${rule}\nDone: ${result.status}.\n${rule}`)

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

/** The schema of arguments that are all texts, and all there. */
function text(...names: readonly string[]) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: [...names], additionalProperties: false }
}
