import { describe, expect, it } from 'vitest'
import { parseProgram } from '../playbook/markdown/parse-program.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { describeFailure } from './run-failure.ts'

const text = `# Desk

## Main($n=0)
About {n}.

### Steps
- Say "hi"
- If $n > 1
  - Say "big"
- Otherwise
  - Pay()

## Pay

### Steps
- $x = 1
- For each $i in [1]
  - Say "$x"
`
const { program } = parseProgram([{ file: 'desk.md', text }])
const playbook = programPlaybook(program!, 'desk')
const describeIn = (error: string, now = text) =>
  describeFailure(playbook, error, { file: 'desk.md', text: now })

describe('describeFailure', () => {
  it.each([
    ['Main/1: it went wrong', 'desk.md:7'],
    ['Main/2: it went wrong', 'desk.md:8'],
    ['Main/3.1: Pay/2.1: it went wrong', 'desk.md:18'],
    ['Main/3.1: Pay/2.1: card: declined', 'desk.md:18'],
    ['the description of Main cannot be filled in: division by zero', 'desk.md:3'],
    ['Main/0: it went wrong', 'desk.md:3'],
    ['it went wrong', null],
    ['Main/9: it went wrong', null],
  ])('finds the innermost bullet of %s', (error, place) => {
    expect(describeIn(error).place).toBe(place)
  })

  it('names no line that is not the bullet any more', () => {
    expect(describeIn('Main/1: it went wrong', `\n${text}`).place).toBeNull()
    expect(describeIn('Main/1: it went wrong', '').place).toBeNull()
  })

  it.each([
    ['Main/1: `$x` is missing', /^set \$x in a step before this one, or write default\(\$x, …\)/],
    ['Main/1: division by zero', /not 0/],
    ['Main/1: "abc" is no list to walk through', /needs a list/],
    ['Main/1: `>` compares two numbers or two strings, not a string and a number', /\$amount:int/],
    ['Main/1: $x: "abc" is no int', /int/],
    ['Main/1: playbooks call each other more than 64 deep: … A → A', /return below an If/],
    ['Main/1: the loop took 50 turns, which is all it may', /max_turns/],
    ['Main/1: the parcel is missing, says the customer', null],
  ])('says what helps with %s', (error, help) => {
    expect(describeIn(error).help).toEqual(help === null ? null : expect.stringMatching(help))
  })
})
