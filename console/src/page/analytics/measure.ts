import { describeSpan } from '../../component/describe-age.ts'
import { formatCost, formatCount } from '../../component/format-number.ts'
import type { Answer } from '../../server/ask.ts'

type Point = Answer<'GET /analytics'>['series'][number]

/** What a chart can show: its name, the value of a point, and how a value is written. */
export const measures = {
  runs: { label: 'Runs', of: ({ runs }: Point) => runs, write: formatCount },
  failed: { label: 'Failed runs', of: ({ failed }: Point) => failed, write: formatCount },
  p95: { label: 'Duration, 95 %', of: ({ p95Ms }: Point) => p95Ms, write: describeSpan },
  cost: { label: 'Cost', of: ({ cost }: Point) => cost, write: formatCost },
  tokens: { label: 'Tokens', of: ({ tokens }: Point) => tokens, write: formatCount },
} as const

export type Measure = keyof typeof measures
