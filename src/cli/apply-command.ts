import { realpathSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { renderDiagnostic } from '../document/render-diagnostic.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { compareLibrary } from '../source/compare-library.ts'
import { Library, type PublishedVersion } from '../source/library.ts'
import { readWorkTree, type WorkTree } from '../source/read-work-tree.ts'
import type { Command } from './command.ts'
import { type ApplyMode, describeCompared } from './describe-compared.ts'
import { exitCode } from './exit-code.ts'
import { localUser } from './local-user.ts'
import { type Flags, readFlags } from './read-flags.ts'
import { type ReadTree, readTree, slashed } from './read-tree.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep apply DIRECTORY [--dry-run | --status] [--allow-dirty | --no-git] [--json]

Publishes the playbooks and policies of a Git work tree to the library in the user's data folder, each with the id of the
commit it comes from. Every file is checked first, and nothing is published if one has an error.

Options:
  --dry-run      shows what would be published: new, changed, unchanged, gone
  --status       shows how the directory differs from what is published, and fails if it does; it may be dirty
  --allow-dirty  publishes what no commit has, too; recorded as COMMIT+dirty
  --no-git       publishes a directory outside Git; no commit is recorded
  --json         one JSON document, for programs

What is gone from the directory stays published, and is shown. No link is followed.

Exit codes: 0 done, 1 errors found, nothing published, or a difference with --status; 2 wrong usage.

Examples:
  lockstep apply playbooks --dry-run
  lockstep apply playbooks
  lockstep apply --status playbooks
`

/** `lockstep apply`: publishes the playbooks and policies of a tree, or says how it differs from what is published. */
export const applyCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, {
      'dry-run': 'switch',
      status: 'switch',
      'allow-dirty': 'switch',
      'no-git': 'switch',
      json: 'switch',
    })
    const mode = modeOf(flags)
    const folder = folderOf(names)
    const top = realpathSync(folder)
    const before = await workTreeOf(top, mode, flags)
    const root = before?.root ?? top
    const tree = readTree(folder, root, terminal)
    if (showProblems(tree, terminal)) {
      if (mode !== 'status') terminal.err('Nothing was published: mend the errors first.\n')
      return exitCode.failed
    }
    const commit = before === null || mode === 'status' ? null : await commitOf(before, top, tree, flags)
    const library = new Library()
    const scope = { root, folder: slashed(relative(root, top)) }
    const compare = (versions: readonly PublishedVersion[]) => compareLibrary(versions, tree.texts, scope)
    const origin = { root, commit, at: new Date().toISOString(), by: localUser({}).id }
    const { compared } =
      mode === 'apply' ? await library.publish(tree.texts, origin, compare) : compare(library.versions())
    // Who asks how things stand is told of a damaged text, too.
    if (mode === 'status')
      for (const { published } of compared) if (published !== null) library.read(published)
    if (flags.has('json'))
      terminal.out(
        `${escapeControl(JSON.stringify({ mode, commit, skipped: tree.skipped, items: compared }))}\n`,
      )
    else terminal.out(describeCompared(compared, mode, commit))
    const drift = compared.some(({ standing }) => standing !== 'unchanged')
    return mode === 'status' && drift ? exitCode.failed : exitCode.done
  },
}

function modeOf(flags: Flags['flags']): ApplyMode {
  const given = (['dry-run', 'status'] as const).filter((mode) => flags.has(mode))
  if (given.length > 1) throw new LockstepError('usage', '--dry-run and --status exclude each other')
  if (flags.has('no-git') && flags.has('allow-dirty'))
    throw new LockstepError('usage', '--allow-dirty says nothing outside Git: leave it or --no-git out')
  return given[0] ?? 'apply'
}

function folderOf([folder, second]: readonly string[]): string {
  if (folder === undefined || second !== undefined)
    throw new LockstepError('usage', 'apply needs one directory')
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new LockstepError('usage', `${folder} is no directory`)
  return folder
}

/** What Git says; null where it is not asked. How things stand can be told without it. */
async function workTreeOf(top: string, mode: ApplyMode, flags: Flags['flags']): Promise<WorkTree | null> {
  if (flags.has('no-git')) return null
  try {
    return await readWorkTree(top)
  } catch (error) {
    if (mode === 'status' && LockstepError.isInstance(error)) return null
    throw error
  }
}

/** The commit that the texts are from. Throws `dirty_tree` if they are not all from one, unless that is allowed. */
async function commitOf(
  before: WorkTree,
  top: string,
  tree: ReadTree,
  flags: Flags['flags'],
): Promise<string> {
  const after = await readWorkTree(top)
  if (after.commit !== before.commit || after.changes.join('\0') !== before.changes.join('\0'))
    throw new LockstepError('dirty_tree', `${top} was changed while it was read. Nothing was published.`, {
      hint: 'do it again when nobody writes there',
      consequence: 'retry',
    })
  // Git says nothing of files that it is told to ignore, and the commit does not have them.
  const unknown = tree.files.filter((file) => !before.tracked.has(file))
  const differing = [
    ...new Set([...before.changes, ...unknown.map((file) => slashed(relative(before.root, file)))]),
  ]
  if (differing.length === 0) return before.commit
  if (flags.has('allow-dirty')) return `${before.commit}+dirty`
  const more = differing.length > 3 ? ` and ${differing.length - 3} more` : ''
  throw new LockstepError(
    'dirty_tree',
    `Commit ${before.commit.slice(0, 12)} does not have what is in ${top}: ${differing.slice(0, 3).join(', ')}${more}. Nothing was published.`,
    { hint: 'commit it, or add --allow-dirty, which records it as such' },
  )
}

/** Shows every problem beside the output, and says whether one is an error. */
function showProblems({ problems }: ReadTree, terminal: Terminal): boolean {
  for (const { diagnostics, quote } of problems)
    for (const diagnostic of diagnostics) {
      const lineText = quote === null ? {} : { lineText: () => quote(diagnostic) }
      const options = { format: 'pretty', colour: terminal.colour, ...lineText } as const
      terminal.err(`${renderDiagnostic(diagnostic, options)}\n\n`)
    }
  return problems.some(({ diagnostics }) => diagnostics.some(({ severity }) => severity === 'error'))
}
