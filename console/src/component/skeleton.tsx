/** Stands where something is being loaded; it is announced once, and moves only if that is wanted. */
export function Skeleton({ lines = 4, label = 'Loading' }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2 py-1">
      {Array.from({ length: lines }, (_, line) => (
        <div
          key={line}
          className="breathing h-7 rounded-md bg-sunken"
          style={{ width: `${100 - ((line * 17) % 34)}%` }}
        />
      ))}
    </div>
  )
}
