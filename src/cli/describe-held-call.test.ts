import { expect, it } from 'vitest'
import type { ApprovalDemand } from '../policy/decision.ts'
import { describeDemands } from './describe-held-call.ts'

it('tells who could approve apart from who asked', () => {
  const demand = {
    count: 1,
    roles: ['SRE'],
    approvers: [],
    allowSelfApproval: false,
    identity: ['local'],
  } as unknown as ApprovalDemand
  const people = { ann: ['SRE'], root: ['SRE'] }
  expect(describeDemands([demand], { people, requesters: ['root'] })).toEqual([
    '1 × SRE, but not whoever asked, identified by local; could be: ann',
  ])
  expect(describeDemands([demand], { people: {}, requesters: ['root'] })).toEqual([
    '1 × SRE, but not whoever asked, identified by local; nobody in `people` could',
  ])
})
