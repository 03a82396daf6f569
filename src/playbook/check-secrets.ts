import type { DocumentPath } from '../document/diagnostic.ts'
import type { CheckContext } from './check-context.ts'
import type { Names } from './check-references.ts'
import { type PlacedSecret, referenceProblem } from './secret-reference.ts'

/** Reports secrets that are not said to be anywhere, and those that no call is given. */
export function checkSecrets(
  { draft, report, wording, alone }: CheckContext,
  used: ReadonlySet<string>,
): void {
  if (alone || draft.broken('secrets')) return
  const stepsKnown = !draft.broken('steps') && draft.steps.every((step) => !isBroken(step))
  for (const [name, reference] of Object.entries(draft.secrets)) {
    const path = ['secrets', name]
    const wrong = referenceProblem(reference)
    if (wrong !== null) {
      report('invalid_secret', path, `${wording.place(path)} ${wrong.problem}`, {
        suggestion: wrong.suggestion,
      })
    } else if (stepsKnown && !used.has(name)) {
      report('no_effect', path, `the secret \`${name}\` is given to no call`, {
        severity: 'warning',
        at: 'key',
        suggestion: `write "{secrets.${name}}" below ${wording.key('input')} of a call, or remove it`,
      })
    }
  }
}

/** Reports secrets of an input that the playbook does not declare; notes the others as used. */
export function checkPlacedSecrets(
  placed: readonly PlacedSecret[],
  path: DocumentPath,
  { report, wording, didYouMean }: CheckContext,
  names: Names,
  used: Set<string>,
): void {
  for (const { path: at, name } of placed) {
    used.add(name)
    if (names.secrets === null || names.secrets.includes(name)) continue
    const place = [...path, ...at]
    const { suggestion } = didYouMean(name, names.secrets)
    report(
      'unknown_secret',
      place,
      `${wording.place(place)} uses the secret \`${name}\`, which does not exist`,
      {
        suggestion:
          suggestion ?? `say where it is, at the top of the playbook: secrets: { ${name}: store:NAME }`,
      },
    )
  }
}

function isBroken(step: CheckContext['draft']['steps'][number]): boolean {
  return ['tool', 'input', 'verify', 'compensate'].some((key) => step.broken(key))
}
