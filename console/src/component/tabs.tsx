import { Tabs as Base } from 'radix-ui'
import type { ReactNode } from 'react'

export type Tab<Value extends string> = { value: Value; label: ReactNode; content: ReactNode }

/** Panels of which one is shown; which one, the address of the page says. */
export function Tabs<Value extends string>({
  label,
  value,
  onChange,
  tabs,
}: {
  label: string
  value: Value
  onChange: (value: Value) => void
  tabs: readonly Tab<Value>[]
}) {
  return (
    <Base.Root value={value} onValueChange={(chosen) => onChange(chosen as Value)}>
      <Base.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px inline-flex items-center gap-1.5 border-b-2 border-transparent px-3 py-1.5 text-sm font-medium whitespace-nowrap text-muted outline-offset-[-2px] hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Base.Trigger>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Content key={tab.value} value={tab.value} className="pt-3">
          {tab.content}
        </Base.Content>
      ))}
    </Base.Root>
  )
}
