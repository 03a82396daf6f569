import { expect, test } from 'vitest'
import { safeNext } from './safe-next.ts'

test('leads back to where somebody wanted to go', () => {
  expect(safeNext('/runs/r_1?tab=calls#x')).toBe('/console/runs/r_1?tab=calls#x')
  expect(safeNext('/console/approvals/a_1')).toBe('/console/approvals/a_1')
  expect(safeNext(undefined)).toBe('/console/')
})

test('leads nowhere else, whatever a link says', () => {
  for (const next of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/console/',
    'javascript:alert(1)',
    '/../runs',
    '/console/../runs/r_1/export',
    '/..%2f',
    '@evil.example',
    '.evil.example/',
    '\t//evil.example',
  ]) {
    const url = new URL(safeNext(next), 'http://console.example')
    expect([url.origin, url.pathname.startsWith('/console/')], next).toEqual(['http://console.example', true])
  }
})
