import { DropdownMenu as Base } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** A button that opens a menu; arrows, letters and Escape work as in any menu. */
export function Menu({
  trigger,
  label,
  children,
  className = '',
}: {
  trigger: ReactNode
  /** The name of a trigger that shows no words. */
  label?: string
  children: ReactNode
  className?: string
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger {...(label === undefined ? {} : { 'aria-label': label })} className={className}>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-[70vh] min-w-44 overflow-y-auto rounded-md border border-line bg-surface p-1 text-sm shadow-[0_8px_24px_var(--shadow)]"
        >
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  )
}

const row =
  'flex cursor-default items-center gap-2 rounded-sm px-2 py-1.5 outline-none select-none data-[highlighted]:bg-hover data-[disabled]:opacity-50'

/** Something to do. */
export function MenuItem({
  icon,
  onSelect,
  children,
  disabled = false,
}: {
  icon?: IconName
  onSelect: () => void
  children: ReactNode
  disabled?: boolean
}) {
  return (
    <Base.Item className={row} onSelect={onSelect} disabled={disabled}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </Base.Item>
  )
}

/** One of several, of which one is chosen. */
export function MenuChoice<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string
  value: Value
  options: readonly { readonly value: Value; readonly label: string }[]
  onChange: (value: Value) => void
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as Value)}>
      <Base.Label className="px-2 pt-1.5 pb-1 text-xs font-medium text-muted">{label}</Base.Label>
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} className={row}>
          <span className="size-4">
            <Base.ItemIndicator>
              <Icon name="check" />
            </Base.ItemIndicator>
          </span>
          {option.label}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  )
}

/** A line between groups. */
export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-line" />
}

/** Words in a menu that do nothing. */
export function MenuNote({ children }: { children: ReactNode }) {
  return <Base.Label className="px-2 py-1.5 text-muted">{children}</Base.Label>
}
