import type { ReactNode } from 'react'
import { Problem } from '../component/problem.tsx'
import { Skeleton } from '../component/skeleton.tsx'

type Asked<Data> = {
  readonly data: Data | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Shows what was asked for: a skeleton until it is there, a problem if it is refused, and both if an older answer is at hand. */
export function Loaded<Data>({
  query,
  lines,
  children,
}: {
  query: Asked<Data>
  lines?: number
  children: (data: Data) => ReactNode
}) {
  const problem =
    query.error === null ? null : <Problem error={query.error} retry={() => void query.refetch()} />
  if (query.data === undefined) return problem ?? <Skeleton {...(lines === undefined ? {} : { lines })} />
  return (
    <>
      {problem !== null && <div className="mb-3">{problem}</div>}
      {children(query.data)}
    </>
  )
}
