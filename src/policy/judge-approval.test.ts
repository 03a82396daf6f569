import { describe, expect, it } from 'vitest'
import type { ApprovalDemand } from './decision.ts'
import { judgeApproval, whyNoVote, type Vote } from './judge-approval.ts'

const demand: ApprovalDemand = {
  policy: 'p',
  rule: 'approvals#1',
  roles: ['OnCall', 'Lead'],
  approvers: [],
  count: 2,
  expiresAfterSeconds: 60,
  identity: ['oidc'],
  allowSelfApproval: false,
}
const request = { askedAt: 1_000, requesters: ['ann'] }
const vote = (person: string, more: Partial<Vote> = {}): Vote => ({
  person,
  identity: 'oidc',
  roles: ['OnCall'],
  at: 2_000,
  answer: 'approve',
  ...more,
})
const state = (votes: readonly Vote[], now = 3_000, demands = [demand]) =>
  judgeApproval(demands, votes, request, now)

describe('judgeApproval', () => {
  it('grants when enough different persons have approved', () => {
    expect(state([vote('bob'), vote('cem', { roles: ['Lead'] })])).toEqual({ state: 'granted' })
  })

  it('counts a person once', () => {
    expect(state([vote('bob'), vote('bob', { at: 2_500 })])).toEqual({
      state: 'waiting',
      missing: ['1 more with role OnCall or Lead (p, approvals#1)'],
    })
  })

  it.each<[string, Vote]>([
    ['whoever asked', vote('ann')],
    ['somebody without the role', vote('cem', { roles: ['SRE'] })],
    ['somebody whose identity nobody checked', vote('cem', { identity: 'asserted' })],
    ['somebody who was too early', vote('cem', { at: 999 })],
    ['somebody who was too late', vote('cem', { at: 61_000 })],
  ])('does not count %s', (_, other) => {
    expect(state([vote('bob'), other])).toMatchObject({ state: 'waiting' })
    expect(state([vote('bob'), { ...other, answer: 'deny' }])).toMatchObject({ state: 'waiting' })
  })

  it('counts whoever asked where the policy says so', () => {
    const own = { ...demand, allowSelfApproval: true, count: 1 }
    expect(state([vote('ann')], 3_000, [own])).toEqual({ state: 'granted' })
    expect(state([vote('ann')], 3_000, [own, demand])).toMatchObject({ state: 'waiting' })
  })

  it('counts only the persons who are named', () => {
    const named = { ...demand, approvers: ['bob', 'dee'], count: 1 }
    expect(state([vote('cem')], 3_000, [named])).toMatchObject({ state: 'waiting' })
    expect(state([vote('dee')], 3_000, [named])).toEqual({ state: 'granted' })
  })

  it('ends with one denial that counts, even when enough others approved', () => {
    expect(state([vote('bob'), vote('cem'), vote('dee', { answer: 'deny' })])).toEqual({
      state: 'denied',
      by: 'dee',
    })
  })

  it('expires, also when it was granted: a grant is used in time or not at all', () => {
    expect(state([vote('bob')], 61_000)).toEqual({ state: 'expired' })
    expect(state([vote('bob'), vote('cem')], 60_999)).toEqual({ state: 'granted' })
    expect(state([vote('bob'), vote('cem')], 61_000)).toEqual({ state: 'expired' })
    expect(state([vote('bob'), vote('cem')], Number.NaN)).toEqual({ state: 'expired' })
  })

  it('grants nothing that was not asked for', () => {
    expect(state([vote('bob')], 3_000, [])).toMatchObject({ state: 'waiting' })
  })

  it('says why a vote does not count', () => {
    expect(whyNoVote(demand, vote('cem', { roles: [] }), [])).toBe('it takes the role OnCall or Lead')
    expect(whyNoVote(demand, vote('ann'), ['ann'])).toBe('whoever asks cannot approve')
    expect(whyNoVote(demand, vote('cem'), ['ann'])).toBeNull()
  })
})
