import type { CamelKeys } from '../playbook/camel-keys.ts'
import type { ConfigFile } from './config-schema.ts'

/** A configuration as TypeScript spells it. */
export type ConfigDefinition = CamelKeys<ConfigFile>

/** Gives a configuration in TypeScript its types; it is checked when it is loaded. */
export function defineConfig(definition: ConfigDefinition): ConfigDefinition {
  return definition
}
