import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ProblemError } from '../../../src/client/index.ts'
import { failedWith } from './ask.ts'

let onSignedOut = (): void => {}

/** Says what to do when the gateway no longer knows who asks. */
export function whenSignedOut(action: () => void): void {
  onSignedOut = action
}

function notice(error: unknown): void {
  if (failedWith(error, 'unauthenticated')) onSignedOut()
}

/** What the gateway said, kept for a while. What it refused is not asked again by itself; what did not arrive is. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: notice }),
  mutationCache: new MutationCache({ onError: notice }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      retry: (failures, error) => !(error instanceof ProblemError) && failures < 2,
      retryDelay: (attempt) => 400 * 2 ** attempt,
    },
    mutations: { retry: false },
  },
})
