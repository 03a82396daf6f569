import { useState } from 'react'
import { Icon } from './icon.tsx'

/** Puts a text on the clipboard, and says that it did. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<boolean | null>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      setCopied(false)
    }
    setTimeout(() => setCopied(null), 1600)
  }
  const said = copied === null ? `Copy ${label}` : copied ? 'Copied' : 'The browser does not allow copying'
  return (
    <button
      type="button"
      title={said}
      aria-label={said}
      onClick={() => void copy()}
      className="inline-flex size-6 items-center justify-center rounded-sm text-muted hover:bg-hover hover:text-ink"
    >
      <Icon name={copied === null ? 'copy' : copied ? 'check' : 'close'} className="size-3.5" />
    </button>
  )
}
