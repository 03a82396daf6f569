import type { ComponentProps } from 'react'
import { Icon, type IconName } from './icon.tsx'

export type ButtonLook = 'main' | 'plain' | 'quiet' | 'danger'

const looks: Record<ButtonLook, string> = {
  main: 'bg-accent text-on-accent border-accent hover:bg-accent-strong hover:border-accent-strong',
  plain: 'bg-surface text-ink border-line-strong/60 hover:bg-hover',
  quiet: 'bg-transparent text-ink border-transparent hover:bg-hover',
  danger: 'bg-surface text-bad border-bad/60 hover:bg-bad-soft',
}

/** The classes of a button, for links that look like one. */
export function buttonClass(look: ButtonLook = 'plain', small = false): string {
  const size = small ? 'h-7 px-2 text-sm gap-1' : 'h-8 px-3 text-sm gap-1.5'
  return `inline-flex shrink-0 items-center justify-center rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-55 disabled:pointer-events-none aria-disabled:opacity-55 ${size} ${looks[look]}`
}

type Props = ComponentProps<'button'> & {
  look?: ButtonLook
  small?: boolean
  icon?: IconName
  /** Shows that the work is under way, and takes no second click. */
  busy?: boolean
}

/** A button; it submits nothing unless it is told to. */
export function Button({
  look,
  small = false,
  icon,
  busy = false,
  className = '',
  children,
  ...rest
}: Props) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || busy}
      aria-busy={busy || undefined}
      className={`${buttonClass(look, small)} ${className}`}
    >
      {icon !== undefined && (
        <Icon name={busy ? 'clock' : icon} className={busy ? 'size-4 breathing' : 'size-4'} />
      )}
      {children}
    </button>
  )
}
