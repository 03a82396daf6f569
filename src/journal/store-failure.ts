import { LockstepError } from '../shared/lockstep-error.ts'

interface Reason {
  readonly code: 'journal_unwritable' | 'journal_unreadable'
  readonly says: string
  readonly hint: string
}

const room = 'Make room, then resume the run; nothing that was confirmed is lost.'
const copy = 'Restore it from a copy.'
const other = 'Another process holds it. Let that one finish, or stop it.'
const permission = 'Give this user the permission to write to the file and its folder.'

/** By the primary result code of SQLite. */
const reasons: Readonly<Record<number, Reason>> = {
  5: { code: 'journal_unwritable', says: 'is being written to by another process', hint: other },
  6: { code: 'journal_unwritable', says: 'is being written to by another process', hint: other },
  8: { code: 'journal_unwritable', says: 'cannot be written to', hint: permission },
  10: { code: 'journal_unwritable', says: 'could not be read or written by the system', hint: room },
  11: { code: 'journal_unreadable', says: 'is damaged', hint: copy },
  13: { code: 'journal_unwritable', says: 'is full', hint: room },
  14: { code: 'journal_unwritable', says: 'cannot be opened', hint: permission },
  26: { code: 'journal_unreadable', says: 'is no database', hint: copy },
}

/** What an error of SQLite means for whoever wanted something of the store; any other error stays what it is. */
export function storeFailure(error: unknown, path: string): unknown {
  const errcode = (error as { errcode?: unknown }).errcode
  if (typeof errcode !== 'number') return error
  const reason = reasons[errcode & 0xff]
  const { code, says, hint } = reason ?? {
    code: 'journal_unwritable' as const,
    says: 'refused what was asked of it',
    hint: 'The cause is what SQLite said.',
  }
  return new LockstepError(code, `The journal ${path} ${says}.`, { cause: error, consequence: 'pause', hint })
}
