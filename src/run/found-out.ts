import type { Outcome } from './ticket.ts'

/** How it is known what became of a call whose outcome was unknown; kept with its settlement, for people. */
export interface FoundOut {
  /** The tool was asked by the call's key; the call was sent again under it; it only reads. */
  readonly how: 'reconciled' | 'repeated' | 'only_reads'
  /** What the tool said of it, such as "already cordoned". */
  readonly note?: string
}

/** Tells people how it became known what became of a call: `outcome unknown → reconciled: already cordoned`. */
export function describeFoundOut({ how, note }: FoundOut, outcome: Outcome): string {
  switch (how) {
    case 'only_reads':
      return 'outcome unknown → it only reads: nothing was changed'
    case 'repeated':
      return 'outcome unknown → sent again under its key: done'
    case 'reconciled': {
      const said = note === undefined ? '' : `: ${note}`
      if (outcome === 'unknown') return `outcome unknown → asked, and still not known${said}`
      return `outcome unknown → reconciled${said || (outcome === 'succeeded' ? ': applied' : ': not applied')}`
    }
  }
}
