import type { ReactNode } from 'react'
import { toneText, type Tone } from './badge.tsx'
import { Icon, type IconName } from './icon.tsx'
import { ClockTime } from './time.tsx'

export type TimelineItem = {
  readonly key: string | number
  readonly at: string
  readonly tone: Tone
  readonly icon: IconName
  readonly title: ReactNode
  readonly note?: ReactNode
}

/** What happened, one thing below the other. */
export function Timeline({ items, label }: { items: readonly TimelineItem[]; label: string }) {
  return (
    <ol aria-label={label} className="relative flex flex-col">
      {items.map((item, index) => (
        <li key={item.key} className="relative flex gap-3 pb-2.5">
          {index < items.length - 1 && (
            <span aria-hidden="true" className="absolute top-5 bottom-0 left-[9px] w-px bg-line" />
          )}
          <span className={`mt-0.5 flex size-5 shrink-0 items-center justify-center ${toneText[item.tone]}`}>
            <Icon name={item.icon} className="size-4" />
          </span>
          <div className="min-w-0 grow text-sm">
            <div className="flex flex-wrap items-baseline justify-between gap-x-3">
              <span className="min-w-0 break-words">{item.title}</span>
              <span className="font-mono text-xs text-muted">
                <ClockTime at={item.at} />
              </span>
            </div>
            {item.note !== undefined && <div className="text-xs break-words text-muted">{item.note}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}
