import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { LockstepError } from '../shared/lockstep-error.ts'

const startSchema = z.object({
  version: z.literal(1),
  playbook: z.string(),
  config: z.string().nullable(),
  mode: z.enum(['dry-run', 'execute']),
  model: z.string(),
  /** Where the policies were: their texts are read anew, for policy is live. */
  policies: z.array(z.string()).default([]),
})

/** How a run was begun, beyond what its record says: enough for `lockstep resume` to find everything again. Paths are absolute. */
export type RunStart = Omit<z.infer<typeof startSchema>, 'version'>

/** Writes down how a run is begun, beside its record. Throws `journal_unwritable`. */
export function writeStart(folder: string, run: string, start: RunStart): void {
  const path = startPath(folder, run)
  const model = start.model.replace(/^scripted:(.+)$/s, (_, file: string) => `scripted:${resolve(file)}`)
  try {
    writeFileSync(path, `${JSON.stringify({ version: 1, ...start, model })}\n`, { mode: 0o600, flag: 'wx' })
  } catch (cause) {
    throw new LockstepError('journal_unwritable', `${path} cannot be written: ${(cause as Error).message}.`, {
      cause,
    })
  }
}

/** How a run was begun; null if nobody wrote it down. Throws `journal_unreadable` if what is there is something else. */
export function readStart(folder: string, run: string): RunStart | null {
  const path = startPath(folder, run)
  try {
    return startSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new LockstepError('journal_unreadable', `${path} does not say how a run was begun.`, { cause })
  }
}

function startPath(folder: string, run: string): string {
  return join(folder, `${run}.start.json`)
}
