import type { Json } from '../shared/json.ts'
import type { llmProviders, logLevels } from './settings-schema.ts'

/** Where a value was said; the first of these that says something counts. */
export type SettingOrigin =
  | { readonly from: 'flag'; readonly name: string }
  | { readonly from: 'environment'; readonly name: string }
  | { readonly from: '.env'; readonly name: string; readonly file: string }
  | { readonly from: 'file'; readonly name: string; readonly file: string }
  | { readonly from: 'default' }

/** One thing that is set, as people are shown it. */
export interface SettingShown {
  readonly key: string
  /** A secret is masked; null where there is none. */
  readonly value: Json
  readonly secret: boolean
  readonly origin: SettingOrigin
}

/** Everything that is set for `lockstep serve`, checked, and without any secret. */
export interface Settings {
  readonly home: string
  readonly host: string
  readonly port: number
  /** Without a slash at its end. */
  readonly publicUrl: string | null
  readonly corsOrigins: readonly string[]
  readonly rateLimit: { readonly perSecond: number; readonly burst: number }
  readonly bodyLimitBytes: number
  readonly logLevel: (typeof logLevels)[number]
  readonly session: { readonly hours: number; readonly linkMinutes: number }
  readonly from: string | null
  readonly samples: boolean
  readonly llm: LlmSettings
  readonly webhooks: { readonly allowPrivate: boolean; readonly timeoutSeconds: number }
}

/** Which model is asked, and what it costs. */
export interface LlmSettings {
  readonly provider: (typeof llmProviders)[number]
  /** As `lockstep run --model` takes it; `none` asks nobody. */
  readonly model: string
  /** The model whose list price counts; null for that of the model itself. */
  readonly costModel: string | null
  /** In US dollars for a million tokens; null for the list price. */
  readonly price: { readonly input: number; readonly output: number } | null
}
