/** Reads a clock for a run: the time it shows, and the run's own last time. */
export type ForwardTime = (now: number, last: number) => number

/**
 * Keeps the time of a run going while the clock is behind it, because that was put back before the run was taken up or another machine took it up: it goes on
 * from the run's last time at the same pace, so that nobody waits until the clock has caught up. Where the clock is not behind, its time is the run's.
 */
export function forwardTime(): ForwardTime {
  /** While the clock is behind: what it showed last, and the time that was told for it. */
  let behind: { readonly clock: number; readonly told: number } | null = null
  return (now, last) => {
    if (now >= last) {
      behind = null
      return now
    }
    const passed = behind === null ? 0 : Math.max(0, now - behind.clock)
    const told = Math.max(last, (behind?.told ?? last) + passed)
    behind = { clock: now, told }
    return told
  }
}
