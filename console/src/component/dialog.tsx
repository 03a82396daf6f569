import { Dialog as Base } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

type Props = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  children: ReactNode
  wide?: boolean
}

/** A dialog that holds the focus until it is closed, and gives it back. */
export function Dialog({ open, onOpenChange, title, description, children, wide = false }: Props) {
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Base.Content
          onOpenAutoFocus={focusFirstField}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={`fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col overflow-hidden rounded-lg border border-line bg-surface shadow-[0_12px_40px_var(--shadow)] ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
        >
          <div className="flex items-start justify-between gap-3 border-b border-line px-4 py-3">
            <div>
              <Base.Title className="text-lg font-semibold">{title}</Base.Title>
              {description !== undefined && (
                <Base.Description className="mt-0.5 text-sm text-muted">{description}</Base.Description>
              )}
            </div>
            <Base.Close
              aria-label="Close"
              className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
            >
              <Icon name="close" />
            </Base.Close>
          </div>
          <div className="overflow-y-auto px-4 py-4">{children}</div>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  )
}

/** Begins with what is to be filled in, if anything is; the first thing in a dialog is the button that closes it. */
function focusFirstField(event: Event): void {
  const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('input, textarea, select')
  if (field === null) return
  event.preventDefault()
  field.focus()
}

/** The row of buttons that ends a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-4 flex flex-wrap justify-end gap-2">{children}</div>
}
