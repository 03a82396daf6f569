import { Button } from './button.tsx'

/** Asks for the next part of a list; nothing where there is none. */
export function MoreButton({ list }: { list: { hasMore: boolean; loadingMore: boolean; more: () => void } }) {
  if (!list.hasMore) return null
  return (
    <div className="mt-3 flex justify-center">
      <Button busy={list.loadingMore} icon="down" onClick={list.more}>
        Show more
      </Button>
    </div>
  )
}
