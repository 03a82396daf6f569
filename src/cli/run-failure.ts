import type { Playbook } from '../playbook/playbook.ts'
import type { Program, Step } from '../playbook/program.ts'

/** Why a program failed, as its author can use it. */
export interface RunFailure {
  /** The place in the file, `refund.md:12`; null where it is not known for certain. */
  readonly place: string | null
  /** How to mend it; null where that depends. */
  readonly help: string | null
}

/**
 * Finds the line of the bullet that an error is about, and what helps. `text` is the file as it is now: a line counts only if
 * the bullet still stands there, because an imported bullet has its line in another file.
 */
export function describeFailure(
  playbook: Playbook,
  error: string,
  { file, text }: { readonly file: string; readonly text: string },
): RunFailure {
  const found = playbook.program === null ? null : placeOf(playbook.program, error)
  const line = found === null ? null : text.split(/\r\n|\r|\n/)[found.line - 1]
  const stands = found !== null && line != null && squeezed(line).includes(squeezed(found.words))
  return { place: stands ? `${file}:${found.line}` : null, help: remedyFor(error) }
}

interface Found {
  readonly line: number
  readonly words: string
}

/** The innermost bullet of an error's way, `Main/1: Pay/2: …`, or the playbook whose description it is about. */
function placeOf({ agents }: Program, error: string): Found | null {
  const playbooks = agents.flatMap((agent) => agent.playbooks)
  const [way = ''] = /^(?:\S+\/\d[\d.]*: )*/.exec(error) ?? []
  const id = way.split(': ').at(-2)
  const described = /^the description of (.+) cannot be filled in: /.exec(error.slice(way.length))?.[1]
  const playbook = playbooks.find(({ id: own, name }) => name === described || id === `${own}/0`)
  if (playbook !== undefined) return { line: playbook.line, words: playbook.name }
  return id === undefined
    ? null
    : findStep(
        playbooks.flatMap(({ steps }) => steps),
        id,
      )
}

function findStep(steps: readonly Step[], id: string): Found | null {
  for (const step of steps) {
    const arms = step.kind === 'if' ? step.arms : []
    const here = [...arms, step].find((each) => each.id === id)
    if (here !== undefined) return { line: here.line, words: here.text.split('\n')[0]! }
    const inside =
      step.kind === 'loop' || step.kind === 'each' ? step.steps : arms.flatMap((arm) => arm.steps)
    const found = findStep(inside, id)
    if (found !== null) return found
  }
  return null
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

const remedies: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [
    /`([^`]+)` is missing$/,
    (name) => `set ${name} in a step before this one, or write default(${name}, …) where it may be missing`,
  ],
  [/division by zero$/, () => 'divide only below an If that the divisor is not 0'],
  [/ is no list to walk through$/, () => 'For each needs a list, such as [1, 2] or what a call returns'],
  [/ is no (str|int|float|bool|list|dict)$/, (type) => `convert it, or do not declare it as ${type}`],
  [
    /compares two numbers or two strings, not a string and a number|not a number and a string$/,
    () => 'declare what is a number as one: $amount:int or $amount:float',
  ],
  [/playbooks call each other more than/, () => 'return below an If before the playbook calls itself again'],
  [
    /the loop took \d+ turns/,
    () => 'write "up to N times" in the loop, or set max_turns in the front matter',
  ],
]

function remedyFor(error: string): string | null {
  for (const [pattern, help] of remedies) {
    const found = pattern.exec(error)
    if (found !== null) return help(...found.slice(1))
  }
  return null
}
