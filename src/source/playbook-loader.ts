import { fileURLToPath } from 'node:url'
import { reportInto, type Problem } from '../document/problem.ts'
import { readValue } from '../document/read-value.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { type CheckOptions, checkPlaybook } from '../playbook/check-playbook.ts'
import { isInstance } from '../playbook/is-instance.ts'
import { type ParsedPlaybook, parsePlaybook } from '../playbook/parse-playbook.ts'
import { PlaybookLoadError } from '../playbook/playbook-load-error.ts'
import { CheckedPlaybook, Playbook } from '../playbook/playbook.ts'
import { isMarkdown, loadProgram } from './load-program.ts'
import { type KnownTool, programTool } from '../playbook/program-tool.ts'
import { readSourceFile } from './read-source-file.ts'

/** How playbooks are loaded. */
export interface LoadOptions extends Omit<CheckOptions, 'tools' | 'facts'> {
  /** The tools that exist, or their names; when given, a playbook may expect no others, and its calls must fit them. */
  readonly tools?: Iterable<string | KnownTool> | undefined
}

/** Loads playbooks from files, texts and plain objects; every way throws PlaybookLoadError with every problem found. */
export class PlaybookLoader {
  readonly #options: CheckOptions
  readonly #tools: readonly KnownTool[] | undefined

  /** With `tools`, a playbook that expects a tool not among them is refused. A Markdown playbook must know the tools it calls, not only their names. */
  constructor({ tools, ...options }: LoadOptions = {}) {
    const known =
      tools === undefined
        ? undefined
        : [...tools].map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
    this.#tools = known
    this.#options = {
      ...options,
      ...(known === undefined
        ? {}
        : { tools: known.map(({ name }) => name), facts: new Map(known.map((tool) => [tool.name, tool])) }),
    }
  }

  /** Loads a `.yaml`, `.yml` or `.json` file, or a Markdown playbook: `.md`, `.pb`. */
  loadFile(path: string | URL): Playbook {
    const file = path instanceof URL ? pathOf(path) : path
    if (isMarkdown(file)) return loadProgram(file, { tools: this.#tools?.map(programTool) })
    const { text, format, problem } = readSourceFile(file)
    if (text === null) throw PlaybookLoadError.fromDiagnostics([problem], file)
    return take(parsePlaybook(text, { ...this.#options, format, file }), file)
  }

  /** Loads a plain object spelled as a file is: `expected_tools`, not `expectedTools`. */
  loadDict(data: unknown): Playbook {
    if (isInstance(data, Playbook)) return data
    const unreadable: Problem[] = []
    const value = readValue(data, reportInto(unreadable))
    const { file, problems } = checkPlaybook(value ?? null, this.#options)
    if (file !== null && unreadable.length === 0) return new Playbook(new CheckedPlaybook(file))
    const diagnostics = [...unreadable, ...problems].map((problem) => diagnosticWithoutPlace(problem))
    throw PlaybookLoadError.fromDiagnostics(diagnostics, null)
  }

  /** Loads the text of a JSON document. */
  loadJsonString(text: string): Playbook {
    return take(parsePlaybook(text, { ...this.#options, format: 'json' }), null)
  }

  /** Loads the text of a YAML document. */
  loadYamlString(text: string): Playbook {
    return take(parsePlaybook(text, { ...this.#options, format: 'yaml' }), null)
  }
}

function take({ playbook, diagnostics }: ParsedPlaybook, path: string | null): Playbook {
  if (playbook === null) throw PlaybookLoadError.fromDiagnostics(diagnostics, path)
  return playbook
}

function pathOf(url: URL): string {
  try {
    return fileURLToPath(url)
  } catch (error) {
    const problem = {
      code: 'unsupported_format',
      message: `Unsupported address ${url.href}`,
      suggestion: 'only file: addresses can be loaded',
    } as const
    throw PlaybookLoadError.fromDiagnostics([diagnosticWithoutPlace(problem, url.href)], url.href, error)
  }
}
