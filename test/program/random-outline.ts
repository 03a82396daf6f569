import fc from 'fast-check'

const words = fc.constantFrom(
  'Greet the user',
  'if $total > 5',
  'OTHERWISE',
  'else:',
  'For  each $item in $items',
  '$x = 1 + 2',
  'Set $x to 3 <!-- why -->',
  '"Hello, $name!"',
  'return $x',
  'End program',
  'Ask user for $order_id',
  'Return(1)',
  'x',
  '1. one',
  '# not a heading here',
  '',
)

const marker = fc.constantFrom('-', '*', '+', '1.', '2)')

const item = fc
  .tuple(fc.constantFrom('', '  ', '    ', '\t', '      ', ' '), marker, fc.constantFrom(' ', '   '), words)
  .map(([indent, sign, gap, text]) => `${indent}${sign}${gap}${text}`)

const heading = fc.constantFrom(
  '# Desk',
  '## Main',
  '## Other($a, $b:int=10) -> str',
  '### Triggers',
  '### Trigger',
  '###   steps  ',
  '## Steps',
  '### Notes ###',
  '### Steps:',
  '### Other',
)

const other = fc.constantFrom(
  '',
  '',
  '   ',
  'Some prose, {$x}.  ',
  '    more prose',
  '---',
  '<!-- a comment -->',
  '<!-- a comment\n\n  that goes on\n-->',
  '```python\nx = 1\n\n\n  - no item  \n```',
  '  ```\n  kept\n no\n  ```',
  '<format>\n# No heading\n\n\n- no item\n</format>',
  '!import ./other.md',
  'At the beginning',
)

/** Texts that look like playbooks more or less: every writing that a formatter has to cope with. */
export const randomOutline: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '---\ntools: [a]\n\n\nx: 1\n---\n', '\n---\n', '#!/usr/bin/env lockstep\n'),
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: item },
        { weight: 2, arbitrary: heading },
        { weight: 2, arbitrary: other },
      ),
      {
        maxLength: 25,
      },
    ),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([front, lines, end]) => (front + lines.join('\n')).replaceAll('\n', end))
