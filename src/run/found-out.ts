/** How it is known what became of a call whose outcome was unknown; kept with its settlement, for people. */
export interface FoundOut {
  /** The tool was asked by the call's key; the call was sent again under it; it only reads. */
  readonly how: 'reconciled' | 'repeated' | 'only_reads'
  /** What the tool said of it, such as "already cordoned". */
  readonly note?: string
}
