import { Badge, type Tone } from './badge.tsx'
import type { IconName } from './icon.tsx'

type Sign = readonly [tone: Tone, words: string, icon?: IconName]

/** Every state that the API names, in the words and the tone of this console. */
const signs: Readonly<Record<string, Sign>> = {
  running: ['info', 'running', 'run'],
  waiting: ['warn', 'waiting'],
  paused: ['warn', 'paused', 'pause'],
  succeeded: ['ok', 'succeeded'],
  incomplete: ['warn', 'incomplete', 'warning'],
  failed: ['bad', 'failed'],
  cancelled: ['still', 'cancelled', 'stop'],
  unreadable: ['bad', 'unreadable', 'warning'],
  pending: ['still', 'to do', 'dot'],
  in_progress: ['info', 'in progress', 'run'],
  completed: ['ok', 'done'],
  skipped: ['still', 'skipped'],
  denied: ['bad', 'denied'],
  held: ['warn', 'held'],
  executing: ['info', 'under way', 'run'],
  unknown: ['warn', 'outcome unknown', 'warning'],
  not_executed: ['still', 'not executed'],
  shown: ['still', 'shown only', 'info'],
  granted: ['ok', 'granted'],
  expired: ['still', 'expired', 'clock'],
  used: ['ok', 'granted and used'],
  void: ['still', 'void'],
  proven: ['ok', 'proven'],
  consistent: ['ok', 'consistent'],
  broken: ['bad', 'broken', 'warning'],
  delivered: ['ok', 'delivered'],
  allow: ['ok', 'allowed'],
  needs_approval: ['warn', 'needs approval', 'approval'],
  deny: ['bad', 'denied'],
}

/** The sign of a state; a state that is not known here is shown as it is spelled. */
export function statusSign(status: string): { tone: Tone; words: string; icon: IconName | undefined } {
  const [tone, words, icon] = signs[status] ?? (['still', status.replaceAll('_', ' ')] as const)
  return { tone, words, icon }
}

/** A state as a badge. */
export function StatusBadge({ status }: { status: string }) {
  const { tone, words, icon } = statusSign(status)
  return (
    <Badge tone={tone} {...(icon === undefined ? {} : { icon })}>
      {words}
    </Badge>
  )
}
