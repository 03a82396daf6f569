/** What the layout needs to know of a step. */
export type Placed = { readonly id: string; readonly after: readonly string[] }

export type FlowBox = { readonly id: string; readonly x: number; readonly y: number }
/** A line between two boxes, as the path of a drawing. */
export type FlowLine = { readonly from: string; readonly to: string; readonly path: string }
export type FlowLayout = {
  readonly boxes: readonly FlowBox[]
  readonly lines: readonly FlowLine[]
  readonly width: number
  readonly height: number
}
export type FlowSize = {
  readonly boxWidth: number
  readonly boxHeight: number
  readonly gapX: number
  readonly gapY: number
}

const laneWidth = 10

/**
 * Places steps from top to bottom: a step stands below everything that leads to it, and steps that may go on at the
 * same time stand beside each other. A line that passes rows by runs in a lane at the right, so that it crosses no box.
 */
export function layoutFlow(steps: readonly Placed[], size: FlowSize): FlowLayout {
  const rows = rowsOf(steps)
  const most = Math.max(1, ...rows.map((row) => row.length))
  const inner = most * size.boxWidth + (most - 1) * size.gapX
  const boxes = new Map<string, FlowBox>()
  for (const [rank, row] of rows.entries()) {
    const width = row.length * size.boxWidth + (row.length - 1) * size.gapX
    const ordered = row.length < 2 ? row : orderRow(row, boxes)
    for (const [index, { id }] of ordered.entries()) {
      const x = (inner - width) / 2 + index * (size.boxWidth + size.gapX)
      boxes.set(id, { id, x, y: rank * (size.boxHeight + size.gapY) })
    }
  }
  const rank = new Map(rows.flatMap((row, index) => row.map(({ id }) => [id, index] as const)))
  let lanes = 0
  const lines = steps.flatMap(({ id, after }) =>
    after.flatMap((before): FlowLine[] => {
      const [from, to] = [boxes.get(before), boxes.get(id)]
      if (from === undefined || to === undefined) return []
      const passes = rank.get(id)! - rank.get(before)! > 1
      const path = passes ? lanePath(from, to, inner + ++lanes * laneWidth, size) : stepPath(from, to, size)
      return [{ from: before, to: id, path }]
    }),
  )
  return {
    boxes: steps.map(({ id }) => boxes.get(id)!),
    lines,
    width: inner + (lanes === 0 ? 0 : (lanes + 1) * laneWidth),
    height: Math.max(0, rows.length * (size.boxHeight + size.gapY) - size.gapY),
  }
}

/** Each step one row below the lowest that leads to it. A name that stands nowhere before it leads from nowhere. */
function rowsOf(steps: readonly Placed[]): Placed[][] {
  const rank = new Map<string, number>()
  const rows: Placed[][] = []
  for (const step of steps) {
    const own = Math.max(-1, ...step.after.map((id) => rank.get(id) ?? -1)) + 1
    rank.set(step.id, own)
    ;(rows[own] ??= []).push(step)
  }
  return rows
}

/** Stands each step below what leads to it, so that few lines cross. */
function orderRow(row: readonly Placed[], boxes: ReadonlyMap<string, FlowBox>): Placed[] {
  const middle = ({ after }: Placed): number => {
    const places = after.flatMap((id) => boxes.get(id)?.x ?? [])
    return places.length === 0 ? 0 : places.reduce((sum, x) => sum + x, 0) / places.length
  }
  return row.toSorted((left, right) => middle(left) - middle(right))
}

function stepPath(from: FlowBox, to: FlowBox, { boxWidth, boxHeight, gapY }: FlowSize): string {
  const [x1, y1] = [from.x + boxWidth / 2, from.y + boxHeight]
  const [x2, y2] = [to.x + boxWidth / 2, to.y]
  if (x1 === x2) return `M${x1} ${y1}V${y2}`
  const bend = y1 + gapY / 2
  return `M${x1} ${y1}C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}`
}

function lanePath(from: FlowBox, to: FlowBox, lane: number, { boxWidth, boxHeight, gapY }: FlowSize): string {
  const out = from.y + boxHeight + gapY * 0.3
  const into = to.y - gapY * 0.4
  const [x1, x2] = [from.x + boxWidth / 2 + 12, to.x + boxWidth / 2 + 12]
  return `M${x1} ${from.y + boxHeight}V${out}H${lane}V${into}H${x2}V${to.y}`
}
