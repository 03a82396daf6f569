import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPlatform, type OpenPlatform, type PlatformOptions } from '../src/app-serve.ts'
import type { Config } from '../src/source/config.ts'
import { loadSettings } from '../src/source/load-settings.ts'
import type { Settings } from '../src/source/settings.ts'

/** A folder of its own for a platform, and what opens one there. */
export interface PlatformHome {
  readonly folder: string
  open(options?: Partial<PlatformOptions> & { readonly set?: Partial<Settings> }): Promise<OpenPlatform>
  /** Closes what was opened, and removes the folder. */
  remove(): Promise<void>
}

/** Makes a folder for a platform. */
export function makePlatformHome(config: Config | null = null): PlatformHome {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-platform-'))
  const opened: OpenPlatform[] = []
  return {
    folder,
    async open({ set = {}, ...options } = {}) {
      const { settings } = loadSettings({ env: { LOCKSTEP_HOME: folder, LOCKSTEP_PORT: '0' } })
      const platform = await openPlatform({
        config,
        url: () => 'http://lockstep.test',
        ...options,
        settings: { ...settings, ...set },
      })
      opened.push(platform)
      return platform
    },
    async remove() {
      for (const platform of opened) await platform.close({ graceMs: 1000 })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Waits until something holds, for as long as a test may take. */
export async function until<Value>(look: () => Promise<Value | null | undefined | false>): Promise<Value> {
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
}
