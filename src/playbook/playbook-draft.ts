import type { DocumentPath } from '../document/diagnostic.ts'
import { type Json, type JsonObject, isJsonObject } from '../shared/json.ts'
import { type CheckedPlaybookFile, type CheckedStepFile, playbookSchema } from './playbook-schema.ts'

/** A step as far as it could be read: what is in `broken` has a default in its place and must not be judged. */
export type StepDraft = CheckedStepFile & { readonly index: number; readonly broken: Broken }

/** A playbook as far as it could be read, so that one mistake does not hide the others. */
export type PlaybookDraft = Omit<CheckedPlaybookFile, 'steps'> & {
  readonly steps: StepDraft[]
  readonly broken: Broken
}

/** Says whether what was written under a key could not be understood. */
export type Broken = (key: string) => boolean

const nothingBroken: Broken = () => false

/** The draft of a playbook without the parts at the given paths; null when nothing of it can be read. */
export function draftPlaybook(value: Json, broken: readonly DocumentPath[]): PlaybookDraft | null {
  if (!isJsonObject(value)) return null
  if (broken.length === 0) return withBroken(playbookSchema.parse(value), nothingBroken, [])

  const rootKeys = new Set<string>()
  const stepKeys: (Set<string> | 'all' | undefined)[] = []
  for (const [first, second, third] of broken) {
    if (first === 'steps' && typeof second === 'number') {
      const keys = stepKeys[second] ?? new Set<string>()
      if (typeof third !== 'string') stepKeys[second] = 'all'
      else if (keys !== 'all') stepKeys[second] = keys.add(third)
    } else if (typeof first === 'string') {
      rootKeys.add(first)
    }
  }
  const steps: readonly Json[] = !rootKeys.has('steps') && Array.isArray(value['steps']) ? value['steps'] : []
  const readable = {
    ...without(value, rootKeys, { id: 'broken', name: 'broken' }),
    steps: steps.map((step, index) => without(step, stepKeys[index], { id: 'broken', description: '' })),
  }
  return withBroken(
    playbookSchema.parse(readable),
    (key) => rootKeys.has(key),
    stepKeys.map((keys) => keys ?? new Set()),
  )
}

/** The value without the broken keys; what it cannot do without is filled in. */
function without(
  value: Json,
  broken: ReadonlySet<string> | 'all' | undefined,
  needed: Record<string, string>,
): JsonObject {
  if (broken === 'all' || !isJsonObject(value)) return needed
  if (broken === undefined) return value
  const kept = Object.fromEntries(Object.entries(value).filter(([key]) => !broken.has(key)))
  const missing = Object.entries(needed).filter(([key]) => broken.has(key))
  return { ...kept, ...Object.fromEntries(missing) }
}

function withBroken(
  file: CheckedPlaybookFile,
  broken: Broken,
  stepKeys: readonly (ReadonlySet<string> | 'all' | undefined)[],
): PlaybookDraft {
  const steps = file.steps.map((step, index): StepDraft => {
    const keys = stepKeys[index]
    return {
      ...step,
      index,
      broken: keys === undefined ? nothingBroken : (key) => keys === 'all' || keys.has(key),
    }
  })
  return { ...file, steps, broken }
}
