import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

/** What a state means to somebody who watches. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'accent' | 'still'

const tones: Record<Tone, string> = {
  ok: 'text-ok bg-ok-soft',
  warn: 'text-warn bg-warn-soft',
  bad: 'text-bad bg-bad-soft',
  info: 'text-info bg-info-soft',
  accent: 'text-accent bg-accent-soft',
  still: 'text-muted bg-sunken',
}

/** The colour of a tone, for what is no badge. */
export const toneText: Record<Tone, string> = {
  ok: 'text-ok',
  warn: 'text-warn',
  bad: 'text-bad',
  info: 'text-info',
  accent: 'text-accent',
  still: 'text-muted',
}

/** The sign of a tone where none is given. */
export const toneIcon: Record<Tone, IconName> = {
  ok: 'check',
  warn: 'clock',
  bad: 'close',
  info: 'dot',
  accent: 'dot',
  still: 'dash',
}

/** A short word in its tone; the sign beside it says the same to whoever sees no colours. */
export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName | null; children: ReactNode }) {
  const sign = icon === undefined ? toneIcon[tone] : icon
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-sm px-1.5 py-0.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      {sign !== null && <Icon name={sign} className="size-3" />}
      {children}
    </span>
  )
}
