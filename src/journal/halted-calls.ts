import { isTenantChain } from './chain.ts'
import type { ReadExport } from './read-export.ts'

/** A call that was let through while all runs of its tenant were halted, and where. */
export interface HaltedCall {
  readonly chain: string
  readonly seq: number
  readonly message: string
}

interface Halt {
  readonly chain: string
  readonly seq: number
  readonly from: number
  to: number
}

/** A call and a halt that come at the same time are judged by the store, by a clock that is read a little before it writes. */
const leeway = 1_000

/** The calls that runs let through between a halt and its end, as the chains of their tenants say; the links alone tell. */
export function haltedCalls({ chains }: Pick<ReadExport, 'chains'>): readonly HaltedCall[] {
  const halts = new Map<string, Halt[]>()
  for (const [chain, entries] of chains) {
    if (!isTenantChain(chain)) continue
    for (const { link } of entries) {
      const known = halts.get(link.tenant) ?? []
      halts.set(link.tenant, known)
      if (link.type === 'tenant.halted') known.push({ chain, seq: link.seq, from: link.at, to: Infinity })
      const last = known.at(-1)
      if (link.type === 'tenant.unhalted' && last !== undefined) last.to = Math.min(last.to, link.at)
    }
  }
  const calls: HaltedCall[] = []
  for (const [chain, entries] of chains) {
    if (isTenantChain(chain)) continue
    for (const { link } of entries) {
      if (link.type !== 'tool.admitted') continue
      const isWithin = ({ from, to }: Halt) => link.at > from + leeway && link.at < to - leeway
      const halt = halts.get(link.tenant)?.find(isWithin)
      if (halt === undefined) continue
      const message = `the call was let through while all runs were halted, by entry ${halt.seq} of ${halt.chain}`
      calls.push({ chain, seq: link.seq, message })
    }
  }
  return calls
}
