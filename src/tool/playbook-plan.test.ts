import { describe, expect, it } from 'vitest'
import { Playbook } from '../playbook/playbook.ts'
import { PlaybookStep } from '../playbook/playbook-step.ts'
import { StepStatus } from '../run/step-status.ts'
import { PlaybookPlan } from './playbook-plan.ts'
import { StepExecution } from './step-execution.ts'

const playbook = new Playbook({
  id: 'refund',
  name: 'Refund',
  steps: ['verify', 'approve', 'pay'].map((id) => ({ id, description: id, expectedTools: [id] })),
})

function planWith(...executions: readonly [string, StepStatus][]): PlaybookPlan {
  const entries = executions.map(([stepId, status]) => [stepId, new StepExecution({ stepId, status })])
  return new PlaybookPlan({ playbook, stepExecutions: Object.fromEntries(entries) })
}

describe('PlaybookPlan', () => {
  it('begins at the first step, not complete, without calls or errors, for the playbook it was given', () => {
    const plan = new PlaybookPlan({ playbook })
    expect(plan).toMatchObject({ currentStepIndex: 0, completed: false, totalToolCalls: 0, errors: [] })
    expect(plan.playbook).toBe(playbook)
    expect(plan.stepExecutions).toEqual({})
    expect(plan.metadata).toEqual({})
  })

  it('keeps every field it is given', () => {
    const startedAt = new Date(0)
    const plan = new PlaybookPlan({
      playbook,
      startedAt,
      currentStepIndex: 2,
      completed: true,
      totalToolCalls: 7,
      errors: ['Step pay: no money'],
      metadata: { ticket: 'T-1' },
    })
    expect(plan).toMatchObject({
      startedAt,
      currentStepIndex: 2,
      completed: true,
      totalToolCalls: 7,
      errors: ['Step pay: no money'],
      metadata: { ticket: 'T-1' },
    })
  })

  it.each([
    [0, 'verify'],
    [1, 'approve'],
    [2, 'pay'],
  ])('has the step at index %i as its current one', (index, id) => {
    expect(new PlaybookPlan({ playbook, currentStepIndex: index }).currentStep?.id).toBe(id)
  })

  it.each([3, 100, -1, 0.5])('has no current step at index %d', (index) => {
    expect(new PlaybookPlan({ playbook, currentStepIndex: index }).currentStep).toBeNull()
  })

  it('of a playbook without steps is complete at once, with progress 1', () => {
    const plan = new PlaybookPlan({ playbook: new Playbook({ id: 'empty', name: 'Empty' }) })
    expect(plan.completed).toBe(true)
    expect(plan.progress).toBe(1)
    expect(plan.currentStep).toBeNull()
  })

  it('measures progress by the steps that are done', () => {
    expect(planWith().progress).toBe(0)
    expect(planWith(['verify', 'in_progress']).progress).toBe(0)
    expect(planWith(['verify', 'completed']).progress).toBeCloseTo(1 / 3)
    expect(planWith(['verify', 'completed'], ['approve', 'completed']).progress).toBeCloseTo(2 / 3)
    expect(planWith(['verify', 'completed'], ['approve', 'completed'], ['pay', 'completed']).progress).toBe(1)
  })

  it('counts skipped steps as progress and failed ones not', () => {
    expect(planWith(['verify', 'skipped']).progress).toBeCloseTo(1 / 3)
    expect(planWith(['verify', 'failed']).progress).toBe(0)
  })

  it('lists as completed the completed steps alone', () => {
    expect(planWith(['verify', 'completed'], ['approve', 'in_progress']).completedSteps).toEqual(['verify'])
    expect(planWith(['verify', 'skipped'], ['approve', 'failed']).completedSteps).toEqual([])
  })

  it('lists as pending what is still to be done: begun or not, but neither skipped nor failed', () => {
    expect(planWith(['verify', 'completed'], ['approve', 'in_progress']).pendingSteps).toEqual([
      'approve',
      'pay',
    ])
    expect(planWith(['verify', 'skipped'], ['approve', 'failed']).pendingSteps).toEqual(['pay'])
  })

  it('finds the execution of a step that has begun, and null for any other', () => {
    const plan = planWith(['verify', 'in_progress'])
    expect(plan.getStepExecution('verify')?.status).toBe('in_progress')
    expect(plan.getStepExecution('approve')).toBeNull()
    expect(plan.getStepExecution('nonsense')).toBeNull()
    expect(plan.getStepExecution('constructor')).toBeNull()
    expect(plan.getStepExecution('__proto__')).toBeNull()
  })

  it('says that a step is complete only if it is completed', () => {
    const plan = planWith(['verify', 'completed'], ['approve', 'in_progress'], ['pay', 'skipped'])
    expect(plan.isStepComplete('verify')).toBe(true)
    expect(plan.isStepComplete('approve')).toBe(false)
    expect(plan.isStepComplete('pay')).toBe(false)
    expect(plan.isStepComplete('nonsense')).toBe(false)
  })

  it('gives one execution for every step, in order, pending where none has begun', () => {
    const plan = planWith(['pay', 'completed'])
    expect(plan.executions.map(({ stepId, status }) => [stepId, status])).toEqual([
      ['verify', 'pending'],
      ['approve', 'pending'],
      ['pay', 'completed'],
    ])
  })

  it('copies what it is given, so that two plans never share a list or a map', () => {
    const stepExecutions: Record<string, StepExecution> = {}
    const errors: string[] = []
    const plan = new PlaybookPlan({ playbook, stepExecutions, errors })
    stepExecutions['verify'] = new StepExecution({ stepId: 'verify', status: 'completed' })
    errors.push('Step verify: no')
    expect(plan.completedSteps).toEqual([])
    expect(plan.errors).toEqual([])
  })
})

describe('an incident playbook, built by hand', () => {
  const gatherLogs = new PlaybookStep({
    id: 'gather_logs',
    description: 'Collect relevant log files from the affected services',
    expectedTools: ['read_file', 'search_logs'],
    hints: ['Start with the most recent logs', 'Look for ERROR and WARN levels'],
    required: true,
    maxToolCalls: 5,
  })
  const analyzeErrors = new PlaybookStep({
    id: 'analyze_errors',
    description: 'Analyze the collected logs for error patterns',
    expectedTools: ['analyze_logs', 'count_errors'],
    hints: ['Group errors by type', 'Note timestamps'],
    required: true,
  })
  const checkMetrics = new PlaybookStep({
    id: 'check_metrics',
    description: 'Review system metrics during the incident window',
    expectedTools: ['query_metrics', 'get_dashboard'],
    hints: ['Focus on CPU, memory, and network'],
    required: false,
  })
  const summarize = new PlaybookStep({
    id: 'summarize_findings',
    description: 'Create a summary of findings and recommendations',
    expectedTools: [],
    hints: ['Include root cause if identified'],
    required: true,
  })
  const investigation = new Playbook({
    id: 'incident_investigation',
    name: 'Incident Investigation Playbook',
    description: 'Standard procedure for investigating production incidents',
    version: '1.0.0',
    steps: [gatherLogs, analyzeErrors, checkMetrics, summarize],
    strictSequence: true,
    allowExtraTools: true,
    maxIterations: 20,
    tags: ['incident', 'investigation', 'production'],
  })

  it('is made of steps that declare their tools', () => {
    expect(gatherLogs.expectedTools).toEqual(['read_file', 'search_logs'])
    expect(gatherLogs.maxToolCalls).toBe(5)
    expect(checkMetrics.required).toBe(false)
    expect(summarize.expectedTools).toEqual([])
    expect(investigation.steps.map((step) => step.id)).toEqual([
      'gather_logs',
      'analyze_errors',
      'check_metrics',
      'summarize_findings',
    ])
    expect(investigation).toMatchObject({
      version: '1.0.0',
      strictSequence: true,
      allowExtraTools: true,
      maxIterations: 20,
      tags: ['incident', 'investigation', 'production'],
    })
  })

  it('has a plan whose executions and position can be set by hand', () => {
    const plan = new PlaybookPlan({ playbook: investigation })
    plan.stepExecutions['gather_logs'] = new StepExecution({
      stepId: 'gather_logs',
      status: StepStatus.COMPLETED,
      startedAt: new Date(),
      completedAt: new Date(),
      toolCalls: ['read_file', 'search_logs', 'read_file'],
      toolCallCount: 3,
      result: 'Found 15 error entries in app.log',
    })
    plan.currentStepIndex = 1
    expect(plan.progress).toBe(0.25)
    expect(plan.currentStep?.id).toBe('analyze_errors')
    expect(plan.completedSteps[0]).toBe('gather_logs')
    expect(plan.isStepComplete('gather_logs')).toBe(true)
  })

  it('tracks steps by five statuses', () => {
    expect(Object.values(StepStatus)).toEqual(['pending', 'in_progress', 'completed', 'skipped', 'failed'])
  })

  it('can demand evidence of a step', () => {
    const validated = new PlaybookStep({
      id: 'validate_fix',
      description: 'Verify the fix is working',
      expectedTools: ['run_tests', 'check_health'],
      validation: { minToolCalls: 1, requiredResultKeywords: ['passed', 'healthy'] },
      required: true,
    })
    expect(validated.validation).toEqual({ minToolCalls: 1, requiredResultKeywords: ['passed', 'healthy'] })
  })

  it('can carry anything of its own in metadata', () => {
    const metadata = {
      severity_threshold: 'high',
      escalation_timeout_minutes: 30,
      notify_channels: ['#incidents', '#oncall'],
    }
    const escalate = new PlaybookStep({
      id: 'escalate',
      description: 'Escalate if issue persists',
      expectedTools: ['send_alert', 'page_oncall'],
      metadata,
    })
    expect(escalate.metadata).toEqual(metadata)
  })

  it('can be made by a function of its parameters', () => {
    const deployment = (environment: string, services: readonly string[]) =>
      new Playbook({
        id: `deploy_${environment}`,
        name: `${environment[0]!.toUpperCase()}${environment.slice(1)} Deployment`,
        steps: [
          new PlaybookStep({
            id: 'pre_check',
            description: `Verify ${environment} environment is ready`,
            expectedTools: ['check_health', 'verify_deps'],
          }),
          ...services.map(
            (service) =>
              new PlaybookStep({
                id: `deploy_${service}`,
                description: `Deploy ${service} to ${environment}`,
                expectedTools: ['deploy', 'wait_healthy'],
                metadata: { service },
              }),
          ),
          new PlaybookStep({
            id: 'post_validate',
            description: 'Validate deployment success',
            expectedTools: ['run_smoke_tests', 'check_metrics'],
          }),
        ],
        tags: ['deployment', environment],
      })
    const production = deployment('production', ['api', 'web', 'worker'])
    expect(production.name).toBe('Production Deployment')
    expect(production.steps.map((step) => step.id)).toEqual([
      'pre_check',
      'deploy_api',
      'deploy_web',
      'deploy_worker',
      'post_validate',
    ])
    expect(production.getStep('deploy_web')?.metadata).toEqual({ service: 'web' })
  })

  it('can be drawn as a bar of its progress', () => {
    const plan = new PlaybookPlan({
      playbook: investigation,
      stepExecutions: {
        gather_logs: new StepExecution({ stepId: 'gather_logs', status: StepStatus.COMPLETED }),
        analyze_errors: new StepExecution({ stepId: 'analyze_errors', status: StepStatus.IN_PROGRESS }),
      },
      currentStepIndex: 1,
    })
    const filled = Math.floor(plan.progress * 20)
    expect(`[${'#'.repeat(filled)}${'-'.repeat(20 - filled)}]`).toBe('[#####---------------]')
  })
})
