import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { Empty } from '../component/empty.tsx'
import { Problem } from '../component/problem.tsx'
import { queryClient } from '../server/query-client.ts'
import { Page } from './page.tsx'

/** Stands in for a page that failed; what failed is asked again on demand. */
export function RouteProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    void queryClient.resetQueries({ predicate: ({ state }) => state.status === 'error' })
    void router.invalidate()
    reset()
  }
  return (
    <Page title="Something went wrong">
      <Problem error={error} retry={retry} />
    </Page>
  )
}

/** Stands in for the whole console where not even the shell can be shown. */
export function ShellProblem(props: ErrorComponentProps) {
  return (
    <main>
      <RouteProblem {...props} />
    </main>
  )
}

/** Stands in for a page that does not exist. */
export function NoSuchPage() {
  return (
    <Page title="No such page">
      <Empty icon="search" title="There is nothing at this address">
        <Link to="/" className="text-accent underline">
          Go to the dashboard
        </Link>
      </Empty>
    </Page>
  )
}
