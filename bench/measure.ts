/** One line of a result: a time, a rate, a ratio of two measures taken in the same run, or how many requests to a model there were. */
export interface Row {
  readonly what: string
  readonly unit:
    | 'µs'
    | 'ms'
    | 's'
    | '×'
    | 'requests'
    | 'runs/s'
    | 'steps/s'
    | 'commits/s'
    | 'MB/s'
    | 'requests/s'
    | 'MB'
  readonly p50: number
  readonly p99: number | null
  readonly goal: number | null
  /** Whether the goal is the least, as of a rate, and not the most. */
  readonly atLeast?: boolean
}

/** How a suite is run. */
export interface BenchOptions {
  /** How large what is measured is, 1 being its full size; for suites that take minutes. */
  readonly scale: number
}

/** The given percentile of the samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/**
 * Times the work many times over, in groups so that the clock's own cost does not count, and gives microseconds per
 * single piece of work. `prepare` runs before each group and is not timed.
 */
export function microseconds<Prepared>(
  prepare: () => Prepared,
  work: (prepared: Prepared, index: number) => void,
  options: { readonly group: number; readonly samples: number },
): number[] {
  const samples: number[] = []
  const warmUp = Math.ceil(options.samples / 4)
  for (let sample = -warmUp; sample < options.samples; sample++) {
    const prepared = prepare()
    const start = process.hrtime.bigint()
    for (let index = 0; index < options.group; index++) work(prepared, index)
    const spent = Number(process.hrtime.bigint() - start) / 1000 / options.group
    if (sample >= 0) samples.push(spent)
  }
  return samples
}

/** A line of times. */
export function times(what: string, samples: readonly number[], goal: number | null = null): Row {
  return { what, unit: 'µs', p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), goal }
}
