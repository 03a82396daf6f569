import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { computed, holds, playbookCall, procedure, program } from './build-program.ts'
import { drawFlow } from '../../src/playbook/explain/draw-flow.ts'
import { explainProgram } from '../../src/playbook/explain/explain-program.ts'
import { renderExplanation } from '../../src/playbook/explain/render-explanation.ts'
import { writeMermaid } from '../../src/playbook/explain/write-mermaid.ts'

const label = String.raw`"(?:[\p{L}\p{M}\p{N} ,.$=+!?…'-]|#\d+;)*"`
const shape = String.raw`(?:\(\[${label}\]\)|\{${label}\}|\{\{${label}\}\}|\[/${label}/\]|\[\[${label}\]\]|\[${label}\])`
const line = new RegExp(
  String.raw`^(?:flowchart TD|  subgraph g\d+\[${label}\]|    p\d+(?:s\d+)?${shape}|  end|  p\d+(?:s\d+)? (?:-->|-\.->)(?:\|${label}\|)? p\d+(?:s\d+)?)$`,
  'u',
)

function sample(words: string) {
  const main = procedure('Main', [
    { kind: 'act', instruction: words, targets: [], reads: [], tools: [], reach: 'named', maxCalls: 1 },
    {
      kind: 'if',
      arms: [
        { condition: holds('$x > 1'), steps: [{ kind: 'end' }] },
        {
          condition: null,
          steps: [{ kind: 'call', value: computed('call_1', [playbookCall('Main')]), target: null }],
        },
      ],
    },
  ])
  return explainProgram(program([main]))
}

describe('a Mermaid flowchart', () => {
  it('is nothing but nodes, labels and edges, whatever a playbook says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (words) => {
        for (const row of writeMermaid(sample(words)).trimEnd().split('\n')) expect(row).toMatch(line)
      }),
    )
  })

  it('does not let a label end its quotation marks, open a tag or a directive', () => {
    const text = writeMermaid(sample('x"] --> y; click y "javascript:alert(1)" %%{init}%% <script>`#35;'))
    expect(text).not.toMatch(/script>|javascript:|%%|`|#35;#35;/)
    expect(text.match(/"/g)!.length % 2).toBe(0)
  })

  it('leads from a decision both ways, and from a call into the playbook', () => {
    const { nodes, edges } = sample('x').flow
    const decision = nodes.find(({ shape: kind }) => kind === 'decide')!
    expect(edges.filter(({ from }) => from === decision.id).map(({ label: words }) => words)).toEqual([
      'yes',
      'no',
    ])
    expect(edges.filter(({ kind }) => kind === 'call')).toMatchObject([{ to: 'p1' }])
  })
})

describe('a drawing', () => {
  it('shows branches beside what opens them, and no way back from one that ends', () => {
    expect(drawFlow(sample('Look around').playbooks[0]!)).toEqual([
      '● Main',
      '○ 1 Look around.',
      '◇ 2 If x is over 1:',
      '├─ yes ─┐',
      '│       ■ 2.1 End the program.',
      '├─ 3 otherwise ─┐',
      '│               □ 3.1 Run Main.',
      '│◀──────────────┘',
      '■ done',
    ])
  })

  it('keeps to its width', () => {
    const lines = drawFlow(sample('word '.repeat(100)).playbooks[0]!, { width: 60 })
    expect(Math.max(...lines.map((row) => [...row].length))).toBe(60)
  })
})

describe('an explanation for people', () => {
  it('lets no control character of a playbook reach the terminal', () => {
    const text = renderExplanation(sample('Go \u001b[2J\u202eon'))
    // oxlint-disable-next-line no-control-regex -- finding them is the point
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(text).toContain(String.raw`Go \u001b[2J\u202eon.`)
  })

  it('opens with the readback and the total', () => {
    const text = renderExplanation(sample('Look around'), { command: 'npx lockstep run x.md --model me' })
    expect(text.split('\n').slice(0, 7)).toEqual([
      ' 1 Look around.          left to the model · no tools',
      ' 2 If x is over 1:       guaranteed',
      '   2.1 End the program.  guaranteed',
      ' 3 Otherwise:            guaranteed',
      '   3.1 Run Main.         guaranteed',
      '4 of 5 steps need no model. Try it yourself, no key:',
      '  npx lockstep run x.md --model me',
    ])
  })
})
