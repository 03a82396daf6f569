import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import type { Diagnostic } from '../document/diagnostic.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { looksLikePolicy } from '../policy/looks-like-policy.ts'
import type { Publishable, PublishedKind } from '../source/library.ts'
import { isMarkdown, markdownSuffixes } from '../source/load-program.ts'
import { playbookSuffixes } from '../source/read-source-file.ts'
import {
  type CheckedFile,
  checkPlaybookFile,
  type JudgedTexts,
  knownDispatchers,
} from './check-playbook-file.ts'
import { findPlaybookFiles } from './find-playbook-files.ts'
import { readPolicyFile } from './policy-file.ts'
import type { Terminal } from './terminal.ts'

/** What is in a folder: the texts that can be published, every problem, and the files that were read for them. */
export interface ReadTree {
  readonly texts: readonly Publishable[]
  readonly problems: readonly Pick<CheckedFile, 'diagnostics' | 'quote'>[]
  /** Where the texts and their parts really lie. */
  readonly files: readonly string[]
  /** How many files were neither. */
  readonly skipped: number
}

interface Found extends Pick<CheckedFile, 'diagnostics' | 'quote'> {
  readonly file: string
  readonly kind: PublishedKind
  readonly judged: JudgedTexts | null
}

/**
 * Reads and judges the playbooks and policies of a folder, as `check` and `policy check` do. No link is followed, and nothing that lies outside the
 * folder is read into a text. Paths of the texts are found from the root, which holds the folder.
 */
export function readTree(folder: string, root: string, terminal: Terminal): ReadTree {
  const { inDirectories, problems } = findPlaybookFiles([folder], [...playbookSuffixes, ...markdownSuffixes])
  const dispatchers = knownDispatchers(terminal)
  const paths = [...inDirectories.values()].flat()
  const found = paths.flatMap((path) => judge(path, dispatchers, terminal) ?? [])
  const texts: Publishable[] = []
  const files: string[] = []
  const lost: Diagnostic[] = [...problems]
  const top = realpathSync(folder)
  for (const { file, kind, judged } of found) {
    if (judged === null) continue
    const outside = [file, ...judged.others.keys()].filter((path) => wayTo(path, top) === null)
    lost.push(...outside.map((path) => leaves(path, folder)))
    if (outside.length > 0) continue
    const parts = [...judged.others].map(
      ([other, text]) => [slashed(relative(dirname(file), other)), text] as const,
    )
    const path = wayTo(file, root)!
    texts.push({ kind, name: judged.id, path, text: judged.text, parts: new Map(parts) })
    files.push(...[file, ...judged.others.keys()].flatMap((each) => realPath(each) ?? []))
  }
  lost.push(...sameNames(found))
  if (found.length === 0 && lost.length === 0)
    lost.push(
      diagnosticWithoutPlace(
        { code: 'file_not_found', message: 'there is no playbook and no policy in this directory' },
        folder,
      ),
    )
  return {
    texts,
    problems: [...found, ...lost.map((problem) => ({ diagnostics: [problem], quote: null }))],
    files,
    skipped: paths.length - found.length,
  }
}

/** What a file is and whether it is right; null if it is neither a playbook nor a policy. */
function judge(file: string, dispatchers: readonly string[], terminal: Terminal): Found | null {
  if (!isMarkdown(file)) {
    const { policy, diagnostics, document } = readPolicyFile(file)
    if (document !== null && looksLikePolicy(document)) {
      const sound = policy !== null && !diagnostics.some(({ severity }) => severity === 'error')
      const judged = sound ? { id: policy.ref.id, text: document.text, others: new Map() } : null
      const quote = ({ line }: Diagnostic) => document.lines.lineText(line ?? 0)
      return { file, kind: 'policy', judged, diagnostics, quote }
    }
  }
  const checked = checkPlaybookFile(file, dispatchers, terminal)
  if (!checked.looksLikeOne) return null
  const { diagnostics, quote } = checked.file
  return { file, kind: 'playbook', judged: checked.judged, diagnostics, quote }
}

/** The way from a folder down to where a file really lies, with slashes; null if it lies elsewhere. */
function wayTo(file: string, folder: string): string | null {
  const real = realPath(file)
  const way = real === null ? '..' : relative(folder, real)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return null
  return slashed(way)
}

function realPath(file: string): string | null {
  try {
    return realpathSync(file)
  } catch {
    // It was there a moment ago.
    return null
  }
}

/** A path as it is recorded, on whichever system. */
export function slashed(path: string): string {
  return path.split(sep).join('/')
}

function leaves(path: string, folder: string): Diagnostic {
  const message = `${path} leads out of ${folder}, and what lies there is not published`
  return diagnosticWithoutPlace(
    { code: 'unreadable_file', message, suggestion: 'put it there as a file' },
    path,
  )
}

/** Two files of one name: nobody could say which of them is meant. */
function sameNames(found: readonly Found[]): Diagnostic[] {
  const first = new Map<string, string>()
  return found.flatMap(({ kind, file, judged }) => {
    if (judged === null) return []
    const key = `${kind} ${judged.id}`
    const other = first.get(key)
    if (other === undefined) {
      first.set(key, file)
      return []
    }
    const message = `two files are the ${kind} \`${judged.id}\`: ${other} and ${file}`
    const suggestion = isMarkdown(file)
      ? 'a Markdown playbook is called after its file: rename one of them'
      : 'give one of them another `id`'
    return [diagnosticWithoutPlace({ code: 'duplicate_name', message, suggestion }, file)]
  })
}
