/** A line of a comparison. */
export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }

const looks = {
  same: ['', ' ', 'unchanged'],
  added: ['bg-ok-soft text-ok', '+', 'added'],
  removed: ['bg-bad-soft text-bad', '−', 'removed'],
} as const

/** Two texts compared, line by line; long stretches that are the same are folded away. */
export function Diff({ lines, label }: { lines: readonly DiffLine[]; label: string }) {
  return (
    <div
      role="region"
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="max-h-[70vh] overflow-auto rounded-md border border-line bg-surface font-mono text-xs leading-relaxed"
    >
      {foldSame(lines).map((part) =>
        part.kind === 'fold' ? (
          <div key={`fold-${part.from}`} className="bg-sunken px-3 py-0.5 text-muted">
            ⋯ {part.count} unchanged lines
          </div>
        ) : (
          <div key={part.at} className={`flex px-3 ${looks[part.line.kind][0]}`}>
            <span className="w-4 shrink-0 select-none" aria-hidden="true">
              {looks[part.line.kind][1]}
            </span>
            {part.line.kind !== 'same' && <span className="sr-only">{looks[part.line.kind][2]}: </span>}
            <span className="break-words whitespace-pre-wrap">
              {part.line.text === '' ? ' ' : part.line.text}
            </span>
          </div>
        ),
      )}
    </div>
  )
}

type Part = { kind: 'line'; at: number; line: DiffLine } | { kind: 'fold'; from: number; count: number }

/** Keeps three lines around each change, and folds the rest. */
export function foldSame(lines: readonly DiffLine[], around = 3): Part[] {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let place = at - around; place <= at + around; place++) near.add(place)
  }
  const parts: Part[] = []
  for (const [at, line] of lines.entries()) {
    const last = parts.at(-1)
    if (near.has(at)) parts.push({ kind: 'line', at, line })
    else if (last?.kind === 'fold') last.count++
    else parts.push({ kind: 'fold', from: at, count: 1 })
  }
  return parts
}
