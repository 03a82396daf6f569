import type { ExplainedPlaybook, ExplainedStep, FlowEdge, FlowGraph, FlowNode } from './explanation.ts'

/** Ways that lead on to whatever comes next. */
type Open = readonly { readonly from: string; readonly label: string | null }[]

/** Where breaking off and going on lead inside a loop. */
interface Loop {
  readonly head: string
  readonly left: { from: string; label: string | null }[]
}

/** The flow of explained playbooks as places and ways; branches meet again after their last bullet. */
export function flowOf(playbooks: readonly ExplainedPlaybook[]): FlowGraph {
  const nodes: FlowNode[] = []
  const edges: FlowEdge[] = []
  const starts = new Map(playbooks.map(({ id }, index) => [id, `p${index + 1}`]))
  for (const playbook of playbooks) new FlowWriter(playbook, starts, nodes, edges).write()
  return { nodes, edges }
}

class FlowWriter {
  readonly #playbook: ExplainedPlaybook
  readonly #starts: ReadonlyMap<string, string>
  readonly #nodes: FlowNode[]
  readonly #edges: FlowEdge[]
  #count = 0

  constructor(
    playbook: ExplainedPlaybook,
    starts: ReadonlyMap<string, string>,
    nodes: FlowNode[],
    edges: FlowEdge[],
  ) {
    this.#playbook = playbook
    this.#starts = starts
    this.#nodes = nodes
    this.#edges = edges
  }

  write(): void {
    const { id, heading, steps } = this.#playbook
    const start = this.#starts.get(id)!
    this.#nodes.push({ id: start, playbook: id, label: heading, shape: 'start' })
    const open = this.#list(steps, [{ from: start, label: null }], null)
    if (open.length > 0) this.#add('done', 'stop', open)
  }

  #list(steps: readonly ExplainedStep[], open: Open, loop: Loop | null): Open {
    let next = open
    for (let at = 0; at < steps.length;) {
      // What can never be reached is left unconnected, so that the drawing shows it.
      let end = at + 1
      while (steps[at]!.shape === 'decide' && steps[end]?.chained === true) end++
      const group = steps.slice(at, end)
      next =
        group[0]!.shape === 'decide' ? this.#branches(group, next, loop) : this.#step(group[0]!, next, loop)
      at = end
    }
    return next
  }

  #branches(arms: readonly ExplainedStep[], open: Open, loop: Loop | null): Open {
    const met: { from: string; label: string | null }[] = []
    let untaken = open
    for (const arm of arms) {
      if (arm.shape === 'otherwise') {
        met.push(...this.#list(arm.steps, untaken, loop))
        return met
      }
      const node = this.#add(labelOf(arm), 'decide', untaken)
      this.#runs(arm, node)
      met.push(...this.#list(arm.steps, [{ from: node, label: 'yes' }], loop))
      untaken = [{ from: node, label: 'no' }]
    }
    return [...met, ...untaken]
  }

  #step(step: ExplainedStep, open: Open, loop: Loop | null): Open {
    const node = this.#add(labelOf(step), nodeShape(step), open)
    this.#runs(step, node)
    switch (step.shape) {
      case 'loop': {
        const inner: Loop = { head: node, left: [] }
        const back = this.#list(step.steps, [{ from: node, label: 'again' }], inner)
        for (const { from, label } of back) this.#edges.push({ from, to: node, label, kind: 'next' })
        return [{ from: node, label: 'done' }, ...inner.left]
      }
      case 'leave':
        loop?.left.push({ from: node, label: null })
        return []
      case 'next':
        if (loop !== null) this.#edges.push({ from: node, to: loop.head, label: null, kind: 'next' })
        return []
      case 'return':
      case 'end':
        return []
      default:
        return [{ from: node, label: null }]
    }
  }

  #runs({ runs }: ExplainedStep, from: string): void {
    for (const id of runs) {
      const to = this.#starts.get(id)
      if (to !== undefined) this.#edges.push({ from, to, label: null, kind: 'call' })
    }
  }

  #add(label: string, shape: FlowNode['shape'], open: Open): string {
    const id = `${this.#starts.get(this.#playbook.id)}s${++this.#count}`
    this.#nodes.push({ id, playbook: this.#playbook.id, label, shape })
    for (const { from, label: way } of open) this.#edges.push({ from, to: id, label: way, kind: 'next' })
    return id
  }
}

function nodeShape({ shape }: ExplainedStep): FlowNode['shape'] {
  switch (shape) {
    case 'ask':
    case 'model':
    case 'decide':
    case 'loop':
      return shape
    case 'end':
    case 'return':
      return 'stop'
    default:
      return 'do'
  }
}

function labelOf({ number, sentence }: ExplainedStep): string {
  return `${number} ${sentence}`
}
