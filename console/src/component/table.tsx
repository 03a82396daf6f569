import { useMemo, useState, type KeyboardEvent, type ReactNode } from 'react'
import { Icon } from './icon.tsx'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** What the column is sorted by; without it, it is not. */
  readonly sortBy?: (row: Row) => string | number
  readonly align?: 'end'
  /** Takes the room that the other columns leave; what does not fit is cut. */
  readonly grow?: boolean
  /** Leaves the column out on narrow screens. */
  readonly wide?: boolean
}

type Sorting = { readonly column: string; readonly down: boolean }

/** A table; columns that can be sorted say so, and the arrow keys move from row to row. */
export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
  empty,
}: {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  empty?: ReactNode
}) {
  const [sorting, setSorting] = useState<Sorting | null>(null)
  const shown = useMemo(() => sortRows(rows, columns, sorting), [rows, columns, sorting])
  if (rows.length === 0 && empty !== undefined) return empty
  return (
    <div className="overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full border-collapse text-sm" aria-label={label}>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                aria-sort={
                  sorting?.column === column.id ? (sorting.down ? 'descending' : 'ascending') : undefined
                }
                className={`px-3 py-2 font-medium whitespace-nowrap ${placing(column)}`}
              >
                {column.sortBy === undefined ? (
                  column.label
                ) : (
                  <button
                    type="button"
                    className="inline-flex items-center gap-1 rounded-sm hover:text-ink"
                    onClick={() => setSorting(nextSorting(sorting, column.id))}
                  >
                    {column.label}
                    <Icon
                      name={sorting?.column === column.id && sorting.down ? 'down' : 'up'}
                      className={`size-3 ${sorting?.column === column.id ? '' : 'opacity-30'}`}
                    />
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        {/* The keys only move between links that can be reached without them as well. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
        <tbody onKeyDown={moveBetweenRows}>
          {shown.map((row) => (
            <tr key={keyOf(row)} className="border-b border-line last:border-b-0 hover:bg-hover/60">
              {columns.map((column) => (
                <td key={column.id} className={`px-3 py-1.5 align-top ${placing(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function placing({ align, wide, grow }: Pick<Column<never>, 'align' | 'wide' | 'grow'>): string {
  return `${grow === true ? 'w-full max-w-0 min-w-36' : ''} ${align === 'end' ? 'text-right whitespace-nowrap' : ''} ${wide === true ? 'hidden md:table-cell' : ''}`
}

/** First upwards, then downwards, then as it came. */
function nextSorting(sorting: Sorting | null, column: string): Sorting | null {
  if (sorting?.column !== column) return { column, down: false }
  return sorting.down ? null : { column, down: true }
}

function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const by = columns.find(({ id }) => id === sorting?.column)?.sortBy
  if (by === undefined || sorting === null) return rows
  const sign = sorting.down ? -1 : 1
  return rows.toSorted((left, right) => {
    const [a, b] = [by(left), by(right)]
    return (
      sign * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b)))
    )
  })
}

function moveBetweenRows(event: KeyboardEvent<HTMLTableSectionElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  if (!(event.target instanceof HTMLElement) || event.target.matches('input, select, textarea')) return
  const row = event.target.closest('tr')
  const next = event.key === 'ArrowDown' ? row?.nextElementSibling : row?.previousElementSibling
  const link = next?.querySelector<HTMLElement>('a, button')
  if (link === null || link === undefined) return
  event.preventDefault()
  link.focus()
}
