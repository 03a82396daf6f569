import type { AgentResult } from '../app.ts'

/** What is known of a run when its command ends. */
export interface RunEnding {
  readonly result: AgentResult
  /** False for a run that was put down, or waits for a person: it can be taken up. */
  readonly ended: boolean
  readonly dry: boolean
  /** What begins the same run anew; null where nobody knows, as for one that was resumed. */
  readonly again: string | null
  /** The calls that wait for approval. */
  readonly waiting: readonly { readonly id: string }[]
}

/**
 * What to do now, as a command where there is one: taking up a run that has not ended, the real run after a dry one, a look at the record
 * after a real one or one with an outcome nobody knows, else the same again.
 */
export function nextCommand({ result, ended, dry, again, waiting: held }: RunEnding): string {
  const { status, run, playbookPlan } = result
  const look = `npx lockstep show ${run}`
  const open = playbookPlan.executions
    .flatMap((execution) => execution.calls)
    .filter(({ outcome }) => outcome === 'unknown' || outcome === 'admitted')
  const what = open.map(({ tool, id }) => `${tool} (${id})`).join(', ')
  if (!ended) {
    const resume = `npx lockstep resume ${run}`
    if (open.length > 0) {
      const settle = open.map(({ id }) => `--settle ${quote(id)}=succeeded`).join(' ')
      return `find out what became of ${what}, then: ${resume} ${settle} (or =failed)`
    }
    if (held.length > 0)
      return `${held.map(({ id }) => `npx lockstep approve ${id}`).join(', ')}, then: ${resume}`
    if (isPaused(result)) return `npx lockstep unpause ${run}, then: ${resume}`
    const waiting = playbookPlan.executions.find(
      ({ phase }) => phase === 'escalated' || phase === 'undecided',
    )
    return waiting === undefined ? resume : `${resume} --retry ${quote(waiting.stepId)}`
  }
  // Running it again would know nothing of a call that may have worked.
  if (open.length > 0) return `find out what became of ${what} before anything is run again: ${look}`
  if (again === null || (status === 'succeeded' && !dry)) return look
  return status === 'succeeded' ? `${again.replace(/ --mode[= ]dry-run/, '')} --mode execute` : again
}

/** Whether somebody has paused the run: taking it up changes nothing then. */
function isPaused({ snapshot }: AgentResult): boolean {
  const last = snapshot.entries.findLast(({ type }) => type === 'run.paused' || type === 'run.unpaused')
  return last?.type === 'run.paused'
}

/** An argument as a shell takes it. */
export function quote(argument: string): string {
  return /^[\w./:=@,+-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`
}
