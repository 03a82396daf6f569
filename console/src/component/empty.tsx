import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** Says that there is nothing, and what to do about it. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line px-6 py-10 text-center">
      <Icon name={icon} className="size-6 text-muted" />
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-sm text-muted">{children}</div>}
      {action !== undefined && <div className="mt-1">{action}</div>}
    </div>
  )
}
