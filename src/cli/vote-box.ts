/**
 * Where people leave what they say to a call that a gateway holds, for the gateway to take when the call is sent again.
 *
 * Owns: the folder `votes` beside the runs; one file for each vote.
 *
 * Invariants
 * B1  Who voted is the owner of the file, as the system has it; never what the file says, nor its name.
 * B2  A file counts only if nobody but its owner could have written it: a regular file with one name, which no group and nobody else may write.
 *     So a file that somebody else prepared, linked or moved here is nobody's vote.
 * B3  A vote is for the run and the call that it names inside: under another name it is for no other.
 * B4  A vote is there whole or not at all.
 */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isJsonObject, type Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { approvalId } from '../run/approval-id.ts'
import { userOfUid } from './user-of-uid.ts'

/** What a person says to a call, and which call that is. */
export interface BoxedVote {
  readonly run: string
  readonly callId: string
  readonly answer: 'approve' | 'deny'
  readonly reason: string | null
}

/** A vote that was found, and whose it is. */
export interface FoundVote extends BoxedVote {
  readonly person: string
  readonly remove: () => void
}

const format = 'lockstep.vote'
const mostBytes = 16_384

/** The votes for the runs of one data folder. */
export class VoteBox {
  readonly folder: string
  readonly #say: (text: string) => void
  /** Those that could not be removed are not taken twice. */
  readonly #seen = new Set<string>()

  /** `say` hears which files are no votes. */
  constructor(runs: string, say: (text: string) => void = () => undefined) {
    this.folder = join(dirname(runs), 'votes')
    this.#say = say
  }

  /** Makes the folder, for its owner alone; one that is there stays as it is, so that it can be shared on purpose. */
  prepare(): void {
    try {
      mkdirSync(this.folder, { mode: 0o700 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }

  /** Leaves a vote of the user who runs this process (B4). Throws `not_available` where files have no owners, `journal_unwritable`. */
  put(vote: BoxedVote): void {
    assertOwners()
    const draft = join(this.folder, `.${randomUUID()}`)
    try {
      this.prepare()
      const file = openSync(draft, 'wx', 0o600)
      try {
        writeFileSync(file, `${JSON.stringify({ format, version: 1, ...vote })}\n`)
        // The gateway may run as another user, who has to read it.
        fchmodSync(file, 0o644)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(draft, join(this.folder, `${approvalId(vote.run, vote.callId)}.${randomUUID()}.json`))
    } catch (cause) {
      throw new LockstepError(
        'journal_unwritable',
        `The vote cannot be left in ${this.folder}: ${messageOf(cause)}.`,
        { hint: 'whoever runs the gateway decides who may write there', cause },
      )
    }
  }

  /** The votes on a call, the oldest name first; what is none is told of and left. Never throws. */
  read(run: string, callId: string): readonly FoundVote[] {
    if (process.geteuid === undefined) return []
    const prefix = `${approvalId(run, callId)}.`
    return this.#names().flatMap((name) => {
      if (!name.startsWith(prefix) || !name.endsWith('.json') || this.#seen.has(name)) return []
      try {
        const { vote, person } = readVote(join(this.folder, name))
        if (vote.run !== run || vote.callId !== callId) throw new Error('it is for another call')
        return [{ ...vote, person, remove: () => this.#remove(name) }]
      } catch (error) {
        this.#seen.add(name)
        this.#say(`${join(this.folder, name)} is no vote: ${messageOf(error)}`)
        return []
      }
    })
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.folder).toSorted()
    } catch {
      return []
    }
  }

  #remove(name: string): void {
    this.#seen.add(name)
    try {
      unlinkSync(join(this.folder, name))
    } catch (error) {
      this.#say(`${join(this.folder, name)} was taken and cannot be removed: ${messageOf(error)}`)
    }
  }
}

/** Reads a file and its owner from one descriptor, so that they belong together (B1, B2). */
function readVote(path: string): { vote: BoxedVote; person: string } {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new Error('it is no file')
    const { uid, mode, nlink, size } = stat
    if (nlink !== 1) throw new Error('it has other names, so it may have been put here by somebody else')
    if ((mode & 0o022) !== 0) throw new Error('others than its owner may write it')
    if (size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`)
    const vote = voteOf(JSON.parse(readFileSync(file, 'utf8')) as Json)
    const person = userOfUid(uid)
    if (person === null) throw new Error(`this system knows no name for its owner (${uid})`)
    return { vote, person }
  } finally {
    closeSync(file)
  }
}

function voteOf(value: Json): BoxedVote {
  if (!isJsonObject(value) || value['format'] !== format || value['version'] !== 1)
    throw new Error('it does not look like one')
  const { run, callId, answer, reason } = value
  if (typeof run !== 'string' || typeof callId !== 'string') throw new Error('it names no call')
  if (answer !== 'approve' && answer !== 'deny') throw new Error('it says neither approve nor deny')
  return { run, callId, answer, reason: typeof reason === 'string' ? reason : null }
}

function assertOwners(): void {
  if (process.geteuid !== undefined) return
  throw new LockstepError(
    'not_available',
    'On this system a file does not tell who wrote it, so nobody can vote on the calls of a gateway.',
  )
}
