import { LockstepError } from '../../shared/lockstep-error.ts'

/** A piece of work that is part of a commit. */
interface Work {
  readonly lazy: boolean
  readonly apply: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** How a group is committed: all of its work inside `transact`, which throws if nothing of it was kept. */
export interface Committer {
  /** `lazy` says that nobody waits until it is safe from a power failure. */
  transact(work: () => void, lazy: boolean): void
}

const largest = 512

/**
 * Gathers what arrives before the next commit into that commit, so that many writers wait for the disk together. A piece that
 * refuses before it has written anything fails alone; if the commit fails, all of it does.
 */
export class CommitGroup {
  readonly #committer: Committer
  #waiting: Work[] = []
  #scheduled = false

  constructor(committer: Committer) {
    this.#committer = committer
  }

  /** Does the work in the next commit. If `apply` refuses with a LockstepError, it must not have written anything. */
  add<Result>(apply: () => Result, lazy = false): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ apply, resolve, reject, lazy })
      if (this.#scheduled) return
      this.#scheduled = true
      setImmediate(() => this.#run())
    })
  }

  /** Commits what is waiting now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commit(this.#waiting.splice(0, largest))
  }

  #run(): void {
    this.#commit(this.#waiting.splice(0, largest))
    this.#scheduled = this.#waiting.length > 0
    if (this.#scheduled) setImmediate(() => this.#run())
  }

  #commit(group: readonly Work[]): void {
    if (group.length === 0) return
    const answers: ({ readonly result: never } | { readonly error: unknown })[] = []
    const lazy = group.every((work) => work.lazy)
    try {
      this.#committer.transact(() => {
        for (const { apply } of group) {
          try {
            answers.push({ result: apply() as never })
          } catch (error) {
            // Any other error may have come in the middle of writing.
            if (LockstepError.isInstance(error)) answers.push({ error })
            else throw error
          }
        }
      }, lazy)
    } catch (error) {
      for (const { reject } of group) reject(error)
      return
    }
    for (const [index, answer] of answers.entries()) {
      const { resolve, reject } = group[index]!
      if ('error' in answer) reject(answer.error)
      else resolve(answer.result)
    }
  }
}
