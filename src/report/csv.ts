import { escapeControl } from '../shared/escape-control.ts'

/** A cell of a table. */
export type Cell = string | number | null

/**
 * A table as comma-separated values (RFC 4180). A text that a spreadsheet would take for a formula is put behind an apostrophe, and control
 * characters are written out, so that opening the file runs nothing and hides nothing.
 */
export function writeCsv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('')
}

function writeCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const plain = escapeControl(cell)
  const safe = /^\s*[=+\-@＝＋－＠]/.test(plain) ? `'${plain}` : plain
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A time as people and programs read it, in UTC; empty for none. */
export function writeTime(at: number | null): string {
  if (at === null) return ''
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString()
}
