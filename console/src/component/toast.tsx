import { useSyncExternalStore } from 'react'
import { Icon } from './icon.tsx'

type Toast = { readonly id: number; readonly text: string; readonly tone: 'ok' | 'bad' }

let toasts: readonly Toast[] = []
let last = 0
const listeners = new Set<() => void>()

/** Says something in passing. What somebody must not miss belongs on the page instead. */
export function toast(text: string, tone: Toast['tone'] = 'ok'): void {
  const id = ++last
  change([...toasts.slice(-3), { id, text, tone }])
  setTimeout(() => dismiss(id), tone === 'ok' ? 5000 : 12_000)
}

function dismiss(id: number): void {
  change(toasts.filter((each) => each.id !== id))
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Where toasts appear: always there, so that a screen reader hears what is put into it. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div
      role="status"
      aria-live="polite"
      aria-label="Messages"
      className="pointer-events-none fixed right-3 bottom-3 z-50 flex w-[min(24rem,calc(100vw-1.5rem))] flex-col gap-2"
    >
      {shown.map(({ id, text, tone }) => (
        <div
          key={id}
          className="pointer-events-auto flex items-start gap-2 rounded-md border border-line bg-surface px-3 py-2 text-sm shadow-[0_8px_24px_var(--shadow)]"
        >
          <Icon
            name={tone === 'ok' ? 'check' : 'warning'}
            className={`mt-0.5 size-4 ${tone === 'ok' ? 'text-ok' : 'text-bad'}`}
          />
          <span className="min-w-0 grow break-words">{text}</span>
          <button
            type="button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
            className="rounded-sm text-muted hover:text-ink"
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
