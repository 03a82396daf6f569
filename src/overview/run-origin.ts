import { isJsonObject, type JsonObject } from '../shared/json.ts'

/** How a run came about, beyond what its first event says: written down with its beginning, and enough to take it up again. */
export interface RunOrigin {
  readonly project: string | null
  /** The published playbook it is a run of; null where it is none. */
  readonly runbook: { readonly id: string; readonly name: string; readonly version: number } | null
  readonly model: string | null
}

/** Reads how a run came about from the data of its entry `agent.prompted`; what is not there, or is something else, is null. */
export function readOrigin(data: JsonObject): RunOrigin {
  const origin = isJsonObject(data['origin']) ? data['origin'] : {}
  const runbook = isJsonObject(origin['runbook']) ? origin['runbook'] : null
  return {
    project: textOf(origin['project']),
    runbook:
      runbook === null || typeof runbook['id'] !== 'string'
        ? null
        : {
            id: runbook['id'],
            name: textOf(runbook['name']) ?? runbook['id'],
            version: Number(runbook['version']),
          },
    model: textOf(origin['model']),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
