import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const noteSchema = z.object({ pid: z.int(), url: z.string(), since: z.string() })

/** What a server leaves in its data folder for others to find it: its process, its address, and when it was started. */
export type ServerNote = z.infer<typeof noteSchema>

const name = 'server.json'

/** Writes down where the server is. Throws what the file system throws. */
export function writeServerNote(home: string, note: ServerNote): void {
  writeFileSync(join(home, name), `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

/** Where the server with the process is; null if it said nothing, or what lies there was left by another one. */
export function readServerNote(home: string, pid: number): ServerNote | null {
  try {
    const note = noteSchema.parse(JSON.parse(readFileSync(join(home, name), 'utf8')))
    return note.pid === pid ? note : null
  } catch {
    return null
  }
}

/** Takes it away. */
export function removeServerNote(home: string): void {
  rmSync(join(home, name), { force: true })
}
