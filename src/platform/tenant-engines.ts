import type { ChainStore } from '../journal/chain-store.ts'
import type { RunDesk, TenantEngine } from './run-desk.ts'

/** The engines, one for each tenant, over one store. */
export class TenantEngines {
  readonly #open: (tenant: string) => Promise<TenantEngine>
  readonly #engines = new Map<string, Promise<TenantEngine>>()

  constructor(open: (tenant: string) => Promise<TenantEngine>) {
    this.#open = open
  }

  /** The engine of a tenant, opened when it is asked for first. */
  of(tenant: string): Promise<TenantEngine> {
    const known = this.#engines.get(tenant)
    if (known !== undefined) return known
    const engine = this.#open(tenant)
    this.#engines.set(tenant, engine)
    engine.catch(() => this.#engines.delete(tenant))
    return engine
  }

  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    const all = await Promise.allSettled(this.#engines.values())
    await Promise.all(
      all.map((each) => (each.status === 'fulfilled' ? each.value.close(options) : undefined)),
    )
  }

  /** Takes up every run of the store that has not ended, but for those that the command line began: they are left to it. Says how many. */
  async recover(
    store: Pick<ChainStore, 'tenants' | 'openRuns'>,
    desk: Pick<RunDesk, 'isOwn'>,
    onTrouble: (run: string, error: unknown) => void,
  ): Promise<number> {
    let taken = 0
    for (const tenant of await store.tenants()) {
      const engine = await this.of(tenant)
      for (const run of await store.openRuns(tenant)) {
        try {
          if (!(await desk.isOwn(run))) continue
          engine.resume(run).catch((error: unknown) => onTrouble(run, error))
          taken++
        } catch (error) {
          onTrouble(run, error)
        }
      }
    }
    return taken
  }
}
