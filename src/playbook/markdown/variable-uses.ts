import type { Bullet } from './bullet.ts'

/** What is done with one variable of an agent. */
export interface VariableUse {
  readonly name: string
  isRead: boolean
  /** The first step that reads it: a trigger or a note asks all the time; only steps have a before and an after. */
  stepRead: Bullet | null
  /** The playbook of that step. */
  readIn: string | null
  /** The first bullet that writes it. */
  write: Bullet | null
  /** The playbook of all that write it; null where there are several, or none. */
  writtenIn: string | null
  /** The line of the write that stands highest. */
  highestWrite: number
}

/** Collects what the bullets of an agent do with its variables, for the checks over the whole program. */
export class VariableUses {
  readonly #byName = new Map<string, VariableUse>()

  /** In the order of their first uses. */
  get all(): Iterable<VariableUse> {
    return this.#byName.values()
  }

  noteRead(name: string, bullet: Bullet, playbook: string): void {
    const use = this.#of(name)
    use.isRead = true
    if (use.stepRead !== null || !bullet.id.includes('/')) return
    use.stepRead = bullet
    use.readIn = playbook
  }

  noteWrite(name: string, bullet: Bullet, playbook: string): void {
    const use = this.#of(name)
    if (use.write === null) {
      use.write = bullet
      use.writtenIn = playbook
    } else if (use.writtenIn !== playbook) use.writtenIn = null
    if (bullet.line < use.highestWrite) use.highestWrite = bullet.line
  }

  /** Adds uses that come after its own. */
  addAll(later: VariableUses): void {
    for (const use of later.all) {
      const own = this.#byName.get(use.name)
      if (own === undefined) {
        this.#byName.set(use.name, use)
        continue
      }
      own.isRead ||= use.isRead
      if (own.stepRead === null) {
        own.stepRead = use.stepRead
        own.readIn = use.readIn
      }
      if (own.write === null) {
        own.write = use.write
        own.writtenIn = use.writtenIn
      } else if (use.write !== null && own.writtenIn !== use.writtenIn) own.writtenIn = null
      own.highestWrite = Math.min(own.highestWrite, use.highestWrite)
    }
  }

  #of(name: string): VariableUse {
    const found = this.#byName.get(name)
    if (found !== undefined) return found
    const use: VariableUse = {
      name,
      isRead: false,
      stepRead: null,
      readIn: null,
      write: null,
      writtenIn: null,
      highestWrite: Infinity,
    }
    this.#byName.set(name, use)
    return use
  }
}
