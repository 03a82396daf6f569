import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseDocument } from '../document/parse-document.ts'
import { type Problem, reportInto } from '../document/problem.ts'
import { readValue } from '../document/read-value.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Config } from './config.ts'
import { checkConfig } from './config-check.ts'
import { ConfigLoadError } from './config-load-error.ts'
import { loadModule } from './load-module.ts'
import { readSourceFile } from './read-source-file.ts'

const names = ['yaml', 'yml', 'json', 'ts', 'mts'].map((suffix) => `lockstep.config.${suffix}`)

/** The configuration that applies in a folder: its own or that of the nearest folder above; null if there is none. */
export function findConfig(folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const [first, second] = names.map((name) => join(at, name)).filter((path) => existsSync(path))
    if (second !== undefined)
      throw new LockstepError('usage', `there are two configurations: ${first} and ${second}`, {
        hint: 'remove one, or say which with --config',
      })
    if (first !== undefined) return first
    if (dirname(at) === at) return null
  }
}

/** Loads a configuration. Throws ConfigLoadError with every problem found and its place. */
export async function loadConfig(path: string): Promise<Config> {
  const file = resolve(path)
  return isCode(file) ? await loadCode(file) : loadConfigDocument(path)
}

/** Says whether a configuration is written in TypeScript, so that loading it runs it. */
export function isCode(path: string): boolean {
  return /\.m?ts$/.test(path)
}

/** Loads a configuration in YAML or JSON. Throws ConfigLoadError with every problem found and its place. */
export function loadConfigDocument(shown: string): Config {
  const file = resolve(shown)
  const source = readSourceFile(file)
  if (source.text === null) throw new ConfigLoadError(shown, [source.problem])
  const { document, diagnostics } = parseDocument(source.text, { format: source.format, file: shown })
  const value = document.value()
  if (value === undefined) throw new ConfigLoadError(shown, diagnostics)
  const { config, problems } = checkConfig(value, { spelling: 'file', folder: dirname(file), file })
  const all = [...diagnostics, ...problems.map((problem) => document.locate(problem))]
  all.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  if (config === null || all.length > 0) throw new ConfigLoadError(shown, all)
  return config
}

async function loadCode(file: string): Promise<Config> {
  const { default: definition } = await loadModule(file)
  const unreadable: Problem[] = []
  const value = readValue(definition, reportInto(unreadable))
  if (value === undefined || unreadable.length > 0) {
    const problem = { code: 'not_json', message: 'the default export is not a configuration' } as const
    const problems = unreadable.length > 0 ? unreadable : [problem]
    throw new ConfigLoadError(
      file,
      problems.map((each) => diagnosticWithoutPlace(each, file)),
    )
  }
  const { config, problems } = checkConfig(value, { spelling: 'code', folder: dirname(file), file })
  if (config !== null) return config
  throw new ConfigLoadError(
    file,
    problems.map((problem) => diagnosticWithoutPlace(problem, file)),
  )
}
