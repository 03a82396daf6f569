import { useEffect, useRef, type ReactNode } from 'react'

let opened = false

/** A page: its heading is the title of the window, and receives the focus when one comes here from another page. */
export function Page({
  title,
  note,
  actions,
  children,
}: {
  title: string
  note?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Where a visit begins, the browser decides what has the focus.
    if (opened) heading.current?.focus({ preventScroll: true })
    opened = true
  }, [])
  useEffect(() => {
    document.title = `${title} · Lockstep`
  }, [title])
  return (
    <div className="mx-auto w-full max-w-[88rem] px-4 py-4 sm:px-6">
      <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold break-words">
            {title}
          </h1>
          {note !== undefined && <div className="mt-0.5 text-sm text-muted">{note}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {children}
    </div>
  )
}
