import { findConfig, loadConfig } from '../source/load-config.ts'
import { loadSettings, type LoadedSettings } from '../source/load-settings.ts'
import { settingRules } from '../source/settings-schema.ts'
import type { Config } from '../source/config.ts'
import type { Flags, FlagRules } from './read-flags.ts'

/** The flags that set something: those of `lockstep serve`, and of commands that show what it would do. */
export const settingFlags: FlagRules = {
  config: { value: 'FILE' },
  'no-samples': 'switch',
  ...Object.fromEntries(
    settingRules.flatMap(({ flag, kind }) =>
      flag === null
        ? []
        : [[flag, { value: kind === 'number' ? 'N' : kind === 'path' ? 'DIR' : 'TEXT' }] as const],
    ),
  ),
}

/** How the flags explain themselves. */
export const settingFlagsHelp = `  --port N          the port to listen on (8000); 0 takes any that is free
  --host ADDRESS    the address to listen on (127.0.0.1)
  --public-url URL  how people reach the server
  --from DIR        serve the playbooks and policies of a Git checkout, read-only
  --model NAME      the model of steps that need one: openai:…, anthropic:…, scripted:FILE
  --log-level WORD  silent, fatal, error, warn, info, debug, trace
  --no-samples      publish no samples at the first start
  --config FILE     another configuration than the nearest lockstep.config.yaml`

/** The configuration that applies, and the settings that follow from it, the flags and the environment. Throws what either of them throws. */
export async function openSettings(
  flags: Flags['flags'],
): Promise<LoadedSettings & { readonly config: Config | null }> {
  const path = flags.get('config') ?? findConfig(process.cwd())
  const config = path === null ? null : await loadConfig(path)
  return { config, ...loadSettings({ flags, config }) }
}
