import type { Bullet } from './bullet.ts'

/** One variable of an agent: whether any step sets it, and what bullets do with it. */
export interface Variable {
  readonly name: string
  /** Whether a step sets it, in a form that leaves no doubt or in words that were read already. */
  isSet: boolean
  isUsed: boolean
  isRead: boolean
  /** Whether words that a model is told mention it. */
  isMentioned: boolean
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

/** The variables of an agent in one table: the names that are set, and what the bullets do with each, for the checks over the whole program. */
export class Variables {
  readonly #byName = new Map<string, Variable>()
  readonly #set: string[] = []
  readonly #used: Variable[] = []

  /** The names that are set from the beginning. */
  constructor(names: readonly string[] = []) {
    for (const name of names) this.add(name)
  }

  /** Those that bullets use, in the order of their first uses. */
  get used(): readonly Variable[] {
    return this.#used
  }

  /** The names that are set, in the order in which that was found. */
  get names(): readonly string[] {
    return this.#set
  }

  /** Whether the name is set. */
  has(name: string): boolean {
    return this.#byName.get(name)?.isSet === true
  }

  /** The variable, where it is set or used. */
  get(name: string): Variable | undefined {
    return this.#byName.get(name)
  }

  /** Notes that the name is set. */
  add(name: string): void {
    const variable = this.#of(name)
    if (variable.isSet) return
    variable.isSet = true
    this.#set.push(name)
  }

  noteRead(name: string, bullet: Bullet, playbook: string): void {
    const use = this.#use(name)
    use.isRead = true
    if (use.stepRead !== null || !bullet.isStep) return
    use.stepRead = bullet
    use.readIn = playbook
  }

  noteWrite(name: string, bullet: Bullet, playbook: string): void {
    const use = this.#use(name)
    if (use.write === null) {
      use.write = bullet
      use.writtenIn = playbook
    } else if (use.writtenIn !== playbook) use.writtenIn = null
    if (bullet.line < use.highestWrite) use.highestWrite = bullet.line
  }

  /** Adds uses that come after its own. */
  addUses(later: Variables): void {
    for (const use of later.used) {
      const own = this.#of(use.name)
      if (!own.isUsed) this.#used.push(own)
      own.isUsed = true
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

  #use(name: string): Variable {
    const variable = this.#of(name)
    if (!variable.isUsed) {
      variable.isUsed = true
      this.#used.push(variable)
    }
    return variable
  }

  #of(name: string): Variable {
    const found = this.#byName.get(name)
    if (found !== undefined) return found
    const variable: Variable = {
      name,
      isSet: false,
      isUsed: false,
      isRead: false,
      isMentioned: false,
      stepRead: null,
      readIn: null,
      write: null,
      writtenIn: null,
      highestWrite: Number.MAX_SAFE_INTEGER,
    }
    this.#byName.set(name, variable)
    return variable
  }
}
