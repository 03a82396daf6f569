import type { Directory } from '../directory/directory.ts'
import type { Engine } from '../engine/engine.ts'
import type { ChainStore } from '../journal/chain-store.ts'
import type { Overview } from '../overview/overview.ts'
import type { Config } from '../source/config.ts'
import type { Settings } from '../source/settings.ts'
import type { Outbox } from '../webhook/outbox.ts'
import type { Metrics } from './metrics.ts'
import type { RunDesk } from './run-desk.ts'
import type { TextShelf } from './text-shelf.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** The model that runs use, and what models cost, in dollars for a million tokens. */
export interface ModelList {
  readonly current: string
  readonly prices: readonly {
    readonly model: string
    readonly inputUsd: number
    readonly outputUsd: number
    /** Who says so. */
    readonly source: string
  }[]
}

/** What a server has opened: everything that its routes stand on. */
export interface Platform {
  readonly version: string
  readonly settings: Settings
  readonly config: Config | null
  readonly store: ChainStore
  readonly directory: Directory
  readonly overview: Overview
  readonly tools: ToolCatalogue
  readonly texts: TextShelf
  readonly desk: RunDesk
  readonly outbox: Outbox
  readonly metrics: Metrics
  readonly models: ModelList
  now(): number
  /** Where people reach the server, without a slash at its end. */
  url(): string
  /** The engine that has the runs of a tenant in hand. */
  engineOf(tenant: string): Promise<Engine>
  /** Whether runs can be begun: everything is open, and nothing is being closed. */
  isReady(): boolean
}
