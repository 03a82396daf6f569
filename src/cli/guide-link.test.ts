import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { denialCodes } from '../run/denial-code.ts'
import { guideLink } from './guide-link.ts'

const text = readFileSync(new URL('../../docs/guide/playbooks.md', import.meta.url), 'utf8')
const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
  heading!
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-'),
)
const linked = [...denialCodes, 'finish_refused'].filter((code) => guideLink(code) !== null)

test.each(linked)('%s leads to a heading of the guide', (code) => {
  expect(headings).toContain(guideLink(code)!.split('#')[1])
})

test('what the guide says nothing about leads nowhere', () => {
  expect(linked.length).toBeGreaterThan(4)
  expect([guideLink('rule'), guideLink('constructor')]).toEqual([null, null])
})
