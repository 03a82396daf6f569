import { CopyButton } from './copy-button.tsx'

/** A text as it is, in a box that scrolls and can be reached by keyboard. */
export function CodeBlock({ text, label, tall = false }: { text: string; label: string; tall?: boolean }) {
  return (
    <div className="group relative">
      <pre
        // A region that scrolls must be reachable without a pointer.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={label}
        className={`overflow-auto rounded-md border border-line bg-sunken px-3 py-2 pr-9 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap ${tall ? 'max-h-[70vh]' : 'max-h-72'}`}
      >
        {text}
      </pre>
      <div className="absolute top-1 right-1">
        <CopyButton text={text} label={label.toLowerCase()} />
      </div>
    </div>
  )
}

/** Any value as indented JSON. */
export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  return <CodeBlock text={typeof value === 'string' ? value : JSON.stringify(value, null, 2)} label={label} />
}
