import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { DiagnosticCode } from '../document/diagnostic-code.ts'
import type { Diagnostic } from '../document/diagnostic.ts'
import { maxDocumentBytes } from '../document/limits.ts'
import type { DocumentFormat } from '../document/parse-document.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { nearestFile } from './nearest-file.ts'

const formats: ReadonlyMap<string, DocumentFormat> = new Map([
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.json', 'json'],
])

/** The ends of file names that playbooks may have. */
export const playbookSuffixes: readonly string[] = [...formats.keys()]

/** The text of a file and the language its name promises; or the diagnostic that says why there is none. */
export type SourceFile =
  | { readonly text: string; readonly format: DocumentFormat; readonly problem: null }
  | { readonly text: null; readonly format: null; readonly problem: Diagnostic }

/** The text of a file; or the diagnostic that says why there is none. */
export type TextFile =
  | { readonly text: string; readonly problem: null }
  | { readonly text: null; readonly problem: Diagnostic }

/** Reads a playbook file; everything that can go wrong is a value. */
export function readSourceFile(path: string): SourceFile {
  const suffix = /\.[^./\\]*$/.exec(path)?.[0].toLowerCase() ?? ''
  const format = formats.get(suffix)
  const { text, problem } = readTextFile(path, () =>
    format === undefined
      ? [
          'unsupported_format',
          `Unsupported file format ${suffix === '' ? '(no suffix)' : `\`${suffix}\``}`,
          `the supported ones are ${playbookSuffixes.join(', ')}`,
        ]
      : null,
  )
  if (text === null) return { text, format: null, problem }
  return { text, format: format!, problem: null }
}

type Refusal = [code: DiagnosticCode, message: string, suggestion?: string | null]

/** Reads a file as text, whatever its name; `objection` may refuse a file that is there before it is read. */
export function readTextFile(path: string, objection: () => Refusal | null = () => null): TextFile {
  const refuse = (...[code, message, suggestion = null]: Refusal): TextFile => ({
    text: null,
    problem: diagnosticWithoutPlace({ code, message, suggestion }, path),
  })
  let descriptor: number | null = null
  try {
    // Opened once, so that what is measured is what is read; not blocking, so that a pipe cannot stop the reader.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const status = fstatSync(descriptor)
    if (status.isDirectory()) return refuse('unreadable_file', `${path} is a directory`, 'name a file in it')
    const objected = objection()
    if (objected !== null) return refuse(...objected)
    if (!status.isFile()) return refuse('unreadable_file', `${path} is not a regular file`)
    if (status.size > maxDocumentBytes)
      return refuse('document_too_large', `the file is larger than ${maxDocumentBytes / 1_000_000} MB`)
    const bytes = readFileSync(descriptor)
    if (bytes.includes(0))
      return refuse('unreadable_file', 'the file is binary, not text', 'save it as UTF-8 text')
    return {
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      problem: null,
    }
  } catch (error) {
    return refuse(...explain(error, path))
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

function explain(error: unknown, path: string): Refusal {
  switch ((error as { code?: string }).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return ['file_not_found', `File not found: ${path}`, suggest(path)]
    case 'EISDIR':
      return ['unreadable_file', `${path} is a directory`]
    case 'EACCES':
    case 'EPERM':
      return ['unreadable_file', `there is no permission to read ${path}`]
    case 'ELOOP':
      return ['unreadable_file', `${path} is a symbolic link that leads back to itself`]
    case 'ENAMETOOLONG':
      return ['file_not_found', 'File not found: the name is too long for a file']
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return ['unreadable_file', 'the file is not UTF-8 text']
    default:
      return ['unreadable_file', `Failed to read ${path}: ${(error as Error).message}`]
  }
}

function suggest(path: string): string | null {
  const nearest = nearestFile(path)
  return nearest === null ? null : `did you mean ${nearest}?`
}
