import { isInstance } from '../playbook/is-instance.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { type LoadOptions, PlaybookLoader } from './playbook-loader.ts'

/**
 * Loads a playbook from a plain object, a path, a file URL, or the text of a document: a text that begins with `{` is
 * JSON, another one with a line break is YAML, any other is a path. Throws PlaybookLoadError with every problem found.
 */
export function loadPlaybook(source: object | string | URL, options: LoadOptions = {}): Playbook {
  const loader = new PlaybookLoader(options)
  if (isInstance(source, URL)) return loader.loadFile(source)
  if (typeof source !== 'string') return loader.loadDict(source)
  if (/^\s*\{/.test(source)) return loader.loadJsonString(source)
  return /[\n\r]/.test(source) ? loader.loadYamlString(source) : loader.loadFile(source)
}
