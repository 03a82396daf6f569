import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import { isTenantChain, tenantChain, writeLink, type ChainLink } from './chain.ts'
import { runNamePattern } from './check-append.ts'

describe('the chain', () => {
  test('C1: a link is written as its canonical JSON', () => {
    const text = fc.string({ unit: 'grapheme' })
    const link: fc.Arbitrary<ChainLink> = fc.record({
      v: fc.constant(1 as const),
      run: fc.stringMatching(runNamePattern),
      seq: fc.nat(),
      at: fc.double({ noNaN: true, noDefaultInfinity: true }),
      tenant: text,
      principal: text,
      type: text,
      payload: fc.constant('sha256:00'),
      prev: fc.option(fc.constant('sha256:01')),
    })
    fc.assert(
      fc.property(link, (each) => {
        expect(writeLink(each)).toBe(canonicalJson(each as unknown as JsonObject))
      }),
    )
  })

  test('C4: no run can be named like the chain of a tenant, and no two tenants share one', () => {
    for (const tenant of ['acme', 'a/b', 'tenant:acme', '', 'ü']) {
      expect(isTenantChain(tenantChain(tenant))).toBe(true)
      expect(tenantChain(tenant)).not.toMatch(runNamePattern)
    }
    expect(tenantChain('a%2Fb')).not.toBe(tenantChain('a/b'))
  })
})
