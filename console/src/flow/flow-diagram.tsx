import { useLayoutEffect, useMemo, useRef, useState, type RefObject } from 'react'
import { toneIcon, toneText } from '../component/badge.tsx'
import { Icon, type IconName } from '../component/icon.tsx'
import { statusSign } from '../component/status-badge.tsx'
import { layoutFlow, type FlowLayout } from './layout-flow.ts'

/** A step as the drawing shows it; `status` where it is drawn for a run. */
export type DrawnStep = {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly after: readonly string[]
  readonly tools: readonly string[]
  readonly mark: 'guaranteed' | 'left to the model' | 'asks a person' | null
  readonly required: boolean
  readonly status?: string
}

const size = { boxHeight: 50, gapX: 14, gapY: 26 }
const [narrowest, widest] = [132, 264]

const frames: Readonly<Record<string, string>> = {
  completed: 'border-ok/60 bg-ok-soft text-ink',
  in_progress: 'border-info bg-info-soft',
  held: 'border-warn bg-warn-soft',
  failed: 'border-bad bg-bad-soft',
  skipped: 'border-line border-dashed bg-sunken text-muted',
}

/** A playbook as boxes and lines, top to bottom; a box that is chosen is handed on. */
export function FlowDiagram({
  steps,
  label,
  chosen,
  onChoose,
}: {
  steps: readonly DrawnStep[]
  label: string
  chosen?: string | null
  onChoose?: (id: string | null) => void
}) {
  const frame = useRef<HTMLDivElement>(null)
  const room = useWidth(frame)
  const someRequired = steps.some(({ required }) => required)
  const layout = useMemo(() => fitFlow(steps, room), [steps, room])
  return (
    <div ref={frame} role="group" aria-label={label} className="overflow-x-auto">
      <div className="relative mx-auto my-1" style={{ width: layout.width, height: layout.height }}>
        <svg
          aria-hidden="true"
          width={layout.width}
          height={layout.height}
          className="absolute inset-0 overflow-visible"
        >
          {layout.lines.map(({ from, to, path }) => (
            <path
              key={`${from} ${to}`}
              d={path}
              fill="none"
              strokeWidth="1.5"
              className="stroke-line-strong"
            />
          ))}
        </svg>
        {steps.map((step, index) => (
          <StepBox
            key={step.id}
            step={step}
            says={someRequired}
            place={layout.boxes[index]!}
            width={layout.boxWidth}
            chosen={chosen === step.id}
            {...(onChoose === undefined
              ? {}
              : { onChoose: () => onChoose(chosen === step.id ? null : step.id) })}
          />
        ))}
      </div>
    </div>
  )
}

/** The widest boxes that the room allows; what does not fit even with the narrowest is scrolled. */
function fitFlow(steps: readonly DrawnStep[], room: number): FlowLayout & { readonly boxWidth: number } {
  let boxWidth = widest
  let layout = layoutFlow(steps, { ...size, boxWidth })
  if (layout.width > room) {
    const boxes = new Map<number, number>()
    for (const { y } of layout.boxes) boxes.set(y, (boxes.get(y) ?? 0) + 1)
    const most = Math.max(1, ...boxes.values())
    boxWidth = Math.max(narrowest, Math.floor(widest - (layout.width - room) / most))
    layout = layoutFlow(steps, { ...size, boxWidth })
  }
  return { ...layout, boxWidth }
}

/** The width of an element, as it changes. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(360)
  useLayoutEffect(() => {
    const target = element.current
    if (target === null) return undefined
    const watch = new ResizeObserver(() => setWidth(target.clientWidth))
    watch.observe(target)
    setWidth(target.clientWidth)
    return () => watch.disconnect()
  }, [element])
  return width
}

function StepBox({
  step,
  says,
  place,
  width,
  chosen,
  onChoose,
}: {
  step: DrawnStep
  /** Whether it is worth saying that a step is optional. */
  says: boolean
  place: { x: number; y: number }
  width: number
  chosen: boolean
  onChoose?: () => void
}) {
  const sign = step.status === undefined ? null : statusSign(step.status)
  const about = describeStep(step, says)
  // What a Markdown playbook says takes the room of what it does.
  const long = step.name.length > 28
  const className = `absolute flex items-center gap-2 rounded-md border px-2.5 text-left ${frames[step.status ?? ''] ?? 'border-line-strong/60 bg-surface'} ${chosen ? 'outline-2 outline-offset-1 outline-accent' : ''}`
  const style = { left: place.x, top: place.y, width, height: size.boxHeight }
  const inside = (
    <>
      <span className={sign === null ? 'text-muted' : toneText[sign.tone]}>
        <Icon
          name={sign === null ? kindIcon(step) : (sign.icon ?? toneIcon[sign.tone])}
          className={`size-4 ${step.status === 'in_progress' ? 'breathing' : ''}`}
        />
      </span>
      <span className="min-w-0 grow">
        <span className={`text-sm font-medium ${long ? 'line-clamp-2 leading-tight' : 'block truncate'}`}>
          {step.name}
          {sign !== null && <span className="sr-only">, {sign.words}</span>}
        </span>
        {!long && <span className="block truncate text-xs text-muted">{about}</span>}
      </span>
    </>
  )
  const title = `${step.name}${sign === null ? '' : ` (${sign.words})`}: ${about}`
  return onChoose === undefined ? (
    <div className={className} style={style} title={title}>
      {inside}
    </div>
  ) : (
    <button
      type="button"
      className={`${className} hover:border-accent`}
      style={style}
      title={title}
      aria-pressed={chosen}
      onClick={onChoose}
    >
      {inside}
    </button>
  )
}

function describeStep({ kind, tools, mark, required }: DrawnStep, says: boolean): string {
  // The first tool of a call is the one it makes; the others check it.
  const named = kind === 'call' ? tools.slice(0, 1) : tools
  const what = named.length > 0 ? named.join(', ') : (mark ?? kind)
  return required || !says ? what : `optional · ${what}`
}

function kindIcon({ mark, kind }: DrawnStep): IconName {
  if (mark === 'asks a person') return 'person'
  if (mark === 'left to the model') return 'model'
  return kind === 'call' ? 'run' : 'dot'
}
