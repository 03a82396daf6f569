import { RequestError } from './problem.ts'

/** A part of a list that is at hand as a whole; the cursor is the id of the last item that was shown. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): { items: Item[]; next: string | null } {
  const last = cursor === undefined ? -1 : items.findIndex(({ id }) => id === cursor)
  if (cursor !== undefined && last === -1)
    throw new RequestError(
      'invalid_request',
      'query.cursor: is of another list, or of a thing that is no more.',
      {
        hint: 'Begin again without a cursor.',
      },
    )
  const shown = items.slice(last + 1, last + 1 + limit)
  return { items: shown, next: last + 1 + limit < items.length ? shown.at(-1)!.id : null }
}
