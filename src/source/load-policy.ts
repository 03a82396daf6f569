import { fileURLToPath } from 'node:url'
import type { DocumentFormat } from '../document/parse-document.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { isInstance } from '../playbook/is-instance.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { PolicyLoadError } from './policy-load-error.ts'
import { readSourceFile } from './read-source-file.ts'

/**
 * Loads a policy from a path, a file URL, or the text of a document: a text that begins with `{` is JSON, another one with a line
 * break is YAML, any other is a path. Throws PolicyLoadError with every problem found.
 */
export function loadPolicy(source: string | URL): CompiledPolicy {
  if (isInstance(source, URL)) return loadFile(pathOf(source))
  if (/^\s*\{/.test(source)) return read(source, 'json', null)
  return /[\n\r]/.test(source) ? read(source, 'yaml', null) : loadFile(source)
}

function loadFile(path: string): CompiledPolicy {
  const { text, format, problem } = readSourceFile(path)
  if (text === null) throw new PolicyLoadError([problem], path)
  return read(text, format, path)
}

function read(text: string, format: DocumentFormat, file: string | null): CompiledPolicy {
  const { policy, diagnostics } = parsePolicy(text, { format, file })
  if (policy === null) throw new PolicyLoadError(diagnostics, file)
  return compilePolicy(policy)
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    const problem = { code: 'unreadable_file', message: `${url.href}: ${(error as Error).message}` } as const
    throw new PolicyLoadError([diagnosticWithoutPlace(problem, url.href)], url.href)
  }
}
