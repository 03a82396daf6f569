import type { Outcome } from './ticket.ts'

/** How it is known what became of a call whose outcome was unknown; kept with its settlement, for people. */
export interface FoundOut {
  /** The tool was asked by the call's key; the call was sent again under it; it only reads; a person said so. */
  readonly how: 'reconciled' | 'repeated' | 'only_reads' | 'told'
  /** What the tool said of it, such as "already cordoned", or how the person knows. */
  readonly note?: string
  /** The person. */
  readonly by?: string
}

/** Tells people how it became known what became of a call: `outcome unknown → reconciled: already cordoned`. */
export function describeFoundOut({ how, note, by }: FoundOut, outcome: Outcome): string {
  switch (how) {
    case 'only_reads':
      return 'outcome unknown → it only reads: nothing was changed'
    case 'repeated':
      return 'outcome unknown → sent again under its key: done'
    case 'told': {
      const said = outcome === 'succeeded' ? 'applied' : 'not applied'
      return `outcome unknown → ${by ?? 'a person'} says: ${said}${note === undefined ? '' : `, ${note}`}`
    }
    case 'reconciled': {
      const said = note === undefined ? '' : `: ${note}`
      if (outcome === 'unknown') return `outcome unknown → asked, and still not known${said}`
      return `outcome unknown → reconciled${said || (outcome === 'succeeded' ? ': applied' : ': not applied')}`
    }
  }
}
