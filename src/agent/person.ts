/** The person on the other side of a program. What the program says to them, its events tell. */
export interface Person {
  /** What they say next; null when they will say nothing more. May be given up by the signal. */
  hear(signal: AbortSignal): Promise<string | null>
}
