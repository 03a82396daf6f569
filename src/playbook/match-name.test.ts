import { describe, expect, it } from 'vitest'
import { matchesName } from './match-name.ts'
import { ownTime } from '../shared/own-time.suite.ts'

describe('matchesName', () => {
  it.each<[string, string, boolean]>([
    ['pay', 'pay', true],
    ['pay', 'pays', false],
    ['pay', 'Pay', false],
    ['*', 'anything/at-all.v2', true],
    ['pay*', 'pay', true],
    ['pay*', 'payment', true],
    ['pay*', 'repay', false],
    ['*pay', 'repay', true],
    ['*pay', 'pay_all', false],
    ['*pay*', 'prepayment', true],
    ['a*b', 'ab', true],
    ['a*b', 'a', false],
    ['aba*aba', 'aba', false],
    ['aba*aba', 'abaaba', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*bb*b', 'abb', false],
    ['a*bb*b', 'abbb', true],
    ['a**b', 'ab', true],
    ['**', '', true],
    ['db.*.read', 'db.users.read', true],
    ['db.*.read', 'db.read', false],
    ['a.c', 'abc', false],
  ])('%s and %s: %s', (pattern, name, matches) => {
    expect(matchesName(pattern, name)).toBe(matches)
  })

  it('stays fast for patterns that would make a regular expression slow', () => {
    const began = ownTime()
    expect(matchesName(`${'*a'.repeat(60)}b`, 'a'.repeat(128))).toBe(false)
    expect(ownTime() - began).toBeLessThan(50)
  })
})
