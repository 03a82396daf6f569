import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesName } from '../playbook/match-name.ts'
import { compileGlob, coversGlob, mayMeet } from './compile-glob.ts'

const part = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 })
const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 6 })

describe('patterns of tools', () => {
  it('fit what playbooks say they fit', () => {
    fc.assert(
      fc.property(part, name, (pattern, tool) => {
        expect(compileGlob(pattern)(tool)).toBe(matchesName(pattern, tool))
      }),
    )
  })

  it('cover another only where they fit all that it fits', () => {
    fc.assert(
      fc.property(part, part, name, (wide, narrow, tool) => {
        fc.pre(coversGlob(wide, narrow) && matchesName(narrow, tool))
        expect(matchesName(wide, tool)).toBe(true)
      }),
    )
    expect(coversGlob('k8s.*', 'k8s.drain_*')).toBe(true)
    expect(coversGlob('k8s.drain_*', 'k8s.*')).toBe(false)
  })

  it('may meet wherever one name fits both', () => {
    fc.assert(
      fc.property(part, part, name, (one, other, tool) => {
        fc.pre(matchesName(one, tool) && matchesName(other, tool))
        expect(mayMeet(one, other)).toBe(true)
      }),
    )
    expect(mayMeet('k8s.*', 'github.*')).toBe(false)
    expect(mayMeet('*.read', '*.write')).toBe(false)
  })
})
