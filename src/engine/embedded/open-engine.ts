import type { ChainStore } from '../../journal/chain-store.ts'
import { LockstepError } from '../../shared/lockstep-error.ts'
import type { JsonObject } from '../../shared/json.ts'
import { engineAddress } from '../engine-address.ts'
import type { RunWork } from '../engine.ts'
import { EmbeddedEngine, type EmbeddedEngineOptions } from './embedded-engine.ts'
import { serveEngine, takeEnginePlace, type ServedEngine } from './engine-server.ts'

/** How the engine of a data folder is opened. */
export interface OpenEngineOptions extends Omit<EmbeddedEngineOptions, 'store'> {
  /** Opens the store; called once this process is the engine. */
  readonly openStore: () => Promise<ChainStore>
  /** How to work on a run that another process describes; without it none is begun for others. */
  readonly begin?: (run: string, request: JsonObject) => Promise<RunWork>
}

/** An engine that others reach, with the store it has opened. */
export interface OpenEngine {
  readonly engine: EmbeddedEngine
  readonly store: ChainStore
  /** Ends the engine and closes the store. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Makes this process the engine of a data folder; null if another one is. Throws what opening the store throws, and `cannot_listen`. */
export async function openEngine(home: string, options: OpenEngineOptions): Promise<OpenEngine | null> {
  const address = engineAddress(home)
  const place = takeEnginePlace(address)
  if (place === null) return null
  let store: ChainStore | null = null
  try {
    store = await options.openStore()
    const engine = await EmbeddedEngine.open({ ...options, store })
    const service = await serveEngine(address, served(engine, options.begin))
    const opened = store
    return {
      engine,
      store: opened,
      close: async (how) => {
        await engine.close(how)
        await service.close()
        await opened.close()
        place.release()
      },
    }
  } catch (error) {
    await store?.close()
    place.release()
    throw error
  }
}

function served(engine: EmbeddedEngine, begin: OpenEngineOptions['begin']): ServedEngine {
  return {
    async begin(run: string, request: JsonObject): Promise<void> {
      if (begin === undefined)
        throw new LockstepError('not_available', 'This engine begins no runs for others.')
      const work = await begin(run, request)
      // Whoever asked follows it by its record.
      engine.start(run, work).catch(() => undefined)
    },
    resume: (run: string) => engine.resume(run),
    order: engine.order.bind(engine),
    vote: engine.vote.bind(engine),
    halt: engine.halt.bind(engine),
    unhalt: engine.unhalt.bind(engine),
    halted: () => engine.halted(),
    runs: () => engine.runs(),
    tail: engine.tail.bind(engine),
  }
}
