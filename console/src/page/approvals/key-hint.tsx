import { Button } from '../../component/button.tsx'

/** Says which letters do what on a page, and switches them on and off. */
export function KeyHint({
  keys,
  on,
  toggle,
}: {
  keys: readonly (readonly [key: string, does: string])[]
  on: boolean
  toggle: () => void
}) {
  return (
    <p className="mt-4 hidden flex-wrap items-center gap-3 text-xs text-muted md:flex">
      {on &&
        keys.map(([key, does]) => (
          <span key={key}>
            <kbd className="rounded-sm border border-line-strong/60 bg-surface px-1 font-mono">{key}</kbd>{' '}
            {does}
          </span>
        ))}
      <Button look="quiet" small onClick={toggle}>
        {on ? 'Switch letter keys off' : 'Switch letter keys on'}
      </Button>
    </p>
  )
}
