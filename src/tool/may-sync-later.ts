import type { RunEvent } from '../run/event.ts'
import type { RecordedEvent } from './run-record.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Facts that only retell what the record before them leads to, or what was shown of it. */
const retold: ReadonlySet<string> = new Set([
  'iteration.started',
  'step.opened',
  'step.completed',
  'tool.returned',
  'agent.reminded',
])

/**
 * Says whether facts may be written without waiting until they are safe from a power failure: nothing outside the run depends on any of
 * them. Those are the intent of a tool that only reads, the outcome of a call that succeeded (its intent is safe, so that a call whose
 * outcome is lost counts as of unknown outcome and is not repeated), and what follows from these. Everything else is waited for.
 */
export function maySyncLater(events: readonly RecordedEvent[], tools: ToolRegistry | null): boolean {
  return (events as readonly RunEvent[]).every((event) => {
    switch (event.type) {
      case 'tool.admitted':
        return tools?.get(event.tool)?.risk === 'read'
      case 'tool.settled':
        return event.outcome === 'succeeded'
      default:
        return retold.has(event.type)
    }
  })
}
