import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'

type Part<Item> = { readonly items: readonly Item[]; readonly next: string | null }

/** A list that the gateway hands out in parts, as one list so far; `more` asks for the next part. */
export function usePages<Item>(
  key: QueryKey,
  askPart: (cursor: string | undefined, signal: AbortSignal) => Promise<Part<Item>>,
  options: { readonly refetchInterval?: number } = {},
) {
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => askPart(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next ?? undefined,
    ...options,
  })
  const items = useMemo(() => query.data?.pages.flatMap((part) => part.items), [query.data])
  return {
    data: items,
    error: query.error,
    refetch: query.refetch,
    hasMore: query.hasNextPage,
    loadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
  }
}
