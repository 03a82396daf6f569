import { utcTime } from '../shared/utc-time.ts'
import type { RunPage } from './run-fold.ts'

type Step = RunPage['steps'][number]

/** What is known of a run before its first entry: its steps, as its playbook has them. */
export function blankRun(
  id: string,
  name: string,
  steps: readonly Omit<Step, 'status' | StepTimes>[],
): RunPage {
  const never = utcTime(0)
  return {
    id,
    project: null,
    runbook: { id: null, name, version: null },
    digest: null,
    mode: 'execute',
    status: 'running',
    reason: null,
    startedAt: never,
    endedAt: null,
    lastAt: never,
    startedBy: '',
    model: null,
    calls: 0,
    denied: 0,
    tokens: 0,
    cost: 0,
    waiting: 0,
    inputs: {},
    seq: 0,
    steps: steps.map((step) => ({ ...step, status: 'pending', startedAt: null, endedAt: null, note: null })),
    callList: [],
    approvals: [],
    conversation: [],
    notices: [],
    parent: null,
    children: [],
    waitsFor: [],
    enforced: true,
  }
}

type StepTimes = 'startedAt' | 'endedAt' | 'note'
