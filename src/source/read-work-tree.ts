import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'

/** What Git says about a folder. */
export interface WorkTree {
  /** The top of the work tree. */
  readonly root: string
  readonly commit: string
  /** What differs from the commit in the folder, from the top of the work tree. */
  readonly changes: readonly string[]
  /** The files of the folder that Git keeps, as absolute paths; what it is told to ignore is not among them. */
  readonly tracked: ReadonlySet<string>
}

const run = promisify(execFile)

/** What a hook of Git sets for its own repository, which need not be that of the folder. */
const foreign = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
]

/** Asks Git about a folder; `program` is how Git is called. Throws `git_unavailable` if there is no Git, no work tree or no commit. */
export async function readWorkTree(folder: string, program = 'git'): Promise<WorkTree> {
  const at = resolve(folder)
  const ask = async (...args: string[]) => await askGit(program, at, args)
  const root = (await ask('rev-parse', '--show-toplevel')).replace(/\r?\n$/, '')
  const commit = (await ask('rev-parse', '--verify', 'HEAD')).trim()
  const status = await ask('status', '--porcelain', '-z', '--no-renames', '--untracked-files=all', '--', '.')
  const tracked = await ask('ls-files', '-z', '--', '.')
  return {
    root,
    commit,
    // Each begins with two letters and a space.
    changes: entries(status).map((entry) => entry.slice(3)),
    tracked: new Set(entries(tracked).map((path) => resolve(at, path))),
  }
}

function entries(text: string): string[] {
  return text.split('\0').filter((entry) => entry !== '')
}

/** The environment in which Git is asked about a folder, and about no other. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' }
  for (const name of foreign) delete env[name]
  return env
}

/** What Git says. Throws `git_unavailable`. */
export async function askGit(program: string, folder: string, args: readonly string[]): Promise<string> {
  const env = gitEnvironment()
  try {
    // A repository may name a program for Git to run when it looks for changes: looking runs none.
    const all = ['-C', folder, '-c', 'core.fsmonitor=false', ...args]
    return (await run(program, all, { env, timeout: 60_000, maxBuffer: 256 * 1024 * 1024 })).stdout
  } catch (error) {
    throw explain(error, folder)
  }
}

function explain(error: unknown, folder: string): LockstepError {
  const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
  const noGit = 'add --no-git, and then no commit is recorded'
  if (code === 'ENOENT')
    return unavailable('Git is not there: no program `git` was found.', `install it, or ${noGit}`, error)
  if (/not a git repository/i.test(stderr))
    return unavailable(`${folder} is in no Git work tree.`, `publish from a checkout, or ${noGit}`, error)
  if (/Needed a single revision/i.test(stderr))
    return unavailable(
      `${folder} is in a Git work tree without a commit.`,
      `commit first, or ${noGit}`,
      error,
    )
  const said = (stderr.trim() === '' ? messageOf(error) : stderr.trim()).split('\n')[0]!
  return unavailable(`Git says of ${folder}: ${said}.`, `mend that, or ${noGit}`, error)
}

function unavailable(message: string, hint: string, cause: unknown): LockstepError {
  return new LockstepError('git_unavailable', message, { hint, cause })
}
