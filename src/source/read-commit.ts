import { spawn } from 'node:child_process'
import { LockstepError } from '../shared/lockstep-error.ts'
import { askGit, gitEnvironment } from './read-work-tree.ts'

/** A text of a commit; its path is found from the folder, with slashes. */
export interface CommittedText {
  readonly path: string
  readonly text: string
}

/** What a folder holds in the commit that is checked out there, whatever lies in its work tree. */
export interface Commit {
  readonly id: string
  /** How many commits lead to it: it grows with every one. */
  readonly number: number
  readonly texts: readonly CommittedText[]
}

const longestText = 1_000_000
const mostTexts = 2000
const wanted = /\.(?:ya?ml|json|md|pb|lock)$/i
/** A regular file in a list of Git: no link, no other repository. */
const listed = /^100(?:644|755) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/s

/** The commit that is checked out in a folder. Throws `git_unavailable`. */
export async function readHead(folder: string): Promise<string> {
  return (await askGit('git', folder, ['rev-parse', '--verify', 'HEAD'])).trim()
}

/**
 * Reads the texts of the folder in its commit: nothing that is not committed, no link, nothing that is too long. Throws `git_unavailable`, and `usage` for a
 * folder with more texts than anybody wrote by hand.
 */
export async function readCommit(folder: string): Promise<Commit> {
  const id = await readHead(folder)
  const number = Number((await askGit('git', folder, ['rev-list', '--count', id])).trim())
  const list = await askGit('git', folder, ['ls-tree', '-r', '-z', '-l', id])
  const files = list.split('\0').flatMap((line) => {
    const [, blob = '', size = '', path = ''] = listed.exec(line) ?? []
    return path !== '' && wanted.test(path) && Number(size) <= longestText ? [{ blob, path }] : []
  })
  if (files.length > mostTexts)
    throw new LockstepError(
      'usage',
      `${folder} holds ${files.length} texts; at most ${mostTexts} are served`,
      {
        hint: 'name the folder with the playbooks',
      },
    )
  const blobs = await readBlobs(
    folder,
    files.map(({ blob }) => blob),
  )
  const texts = files.flatMap(({ path }, index) => {
    const text = textOf(blobs[index]!)
    return text === null ? [] : [{ path, text }]
  })
  return { id, number, texts }
}

/** The text of bytes; null if they are none. */
function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** The bytes of blobs as they are stored: no filter of the repository is run. */
async function readBlobs(folder: string, ids: readonly string[]): Promise<readonly Buffer[]> {
  if (ids.length === 0) return []
  const output = await new Promise<Buffer>((resolve, reject) => {
    const git = spawn('git', ['-C', folder, 'cat-file', '--batch'], {
      env: gitEnvironment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const parts: Buffer[] = []
    git.stdout.on('data', (part: Buffer) => parts.push(part))
    git.on('error', reject)
    git.stdin.on('error', () => undefined)
    git.on('close', (code) =>
      code === 0 ? resolve(Buffer.concat(parts)) : reject(new Error(`git ended with ${code}`)),
    )
    git.stdin.end(ids.map((id) => `${id}\n`).join(''))
  }).catch((cause: unknown) => {
    throw new LockstepError('git_unavailable', `Git does not say what ${folder} holds.`, { cause })
  })
  const blobs: Buffer[] = []
  for (let at = 0; blobs.length < ids.length;) {
    const end = output.indexOf(10, at)
    const [, type, size] = output.subarray(at, end).toString('latin1').split(' ')
    if (end === -1 || type !== 'blob')
      throw new LockstepError('git_unavailable', `Git does not have what ${folder} holds.`)
    blobs.push(output.subarray(end + 1, end + 1 + Number(size)))
    at = end + 1 + Number(size) + 1
  }
  return blobs
}
