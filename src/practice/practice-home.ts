import { join } from 'node:path'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Tool } from '../tool/tool.ts'
import { PracticeService, readPracticeState } from './practice-service.ts'
import { PracticeStore } from './practice-store.ts'
import { createPracticeTools } from './practice-tools.ts'

/** Practice tools, and what ends the service that they started. */
export interface PracticeTools {
  readonly tools: readonly Tool[]
  /** Where the service is, if it is not in this process. */
  readonly url: string | null
  close(): Promise<void>
}

/** The practice service of one data folder. */
export class PracticeHome {
  readonly #file: string
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(folder: string, env: Readonly<Record<string, string | undefined>> = process.env) {
    this.#file = join(folder, 'practice', 'practice.db')
    this.#env = env
  }

  /**
   * The practice tools. They act on the service in `LOCKSTEP_PRACTICE_URL`, else on one in this process, which is started when a tool is called
   * first. Throws `invalid_value` if the variable is no address.
   */
  openTools(): PracticeTools {
    const given = this.#env['LOCKSTEP_PRACTICE_URL'] ?? ''
    if (given !== '') return { tools: elsewhere(given), url: given, close: async () => undefined }
    let started: Promise<PracticeService> | null = null
    const address = async () => {
      started ??= this.start(0)
      const service = await started
      // It works for the run, and does not keep the process from ending with it.
      service.unref()
      return service.url
    }
    return {
      tools: createPracticeTools(address),
      url: null,
      close: async () => await (await started?.catch(() => null))?.close(),
    }
  }

  /** Starts the service. Throws `practice_unavailable`, `cannot_listen`, or `invalid_value` for faults that are none. */
  async start(port: number): Promise<PracticeService> {
    return await PracticeService.start({
      file: this.#file,
      port,
      faults: this.#env['PRACTICE_FAULTS'] ?? '',
    })
  }

  /** Everything that the service remembers. Throws `practice_unavailable`. */
  read(): JsonObject {
    const store = new PracticeStore(this.#file)
    try {
      return readPracticeState(store)
    } finally {
      store.close()
    }
  }

  /** Puts everything back to its beginning, also where the file is broken. Throws `practice_unavailable`. */
  reset(): void {
    PracticeStore.reset(this.#file)
  }
}

function elsewhere(url: string): Tool[] {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    return createPracticeTools(async () => url.replace(/\/+$/, ''))
  }
  throw new LockstepError('invalid_value', `LOCKSTEP_PRACTICE_URL is no address: ${url}.`, {
    hint: 'lockstep practice serves the practice service and says where',
  })
}
