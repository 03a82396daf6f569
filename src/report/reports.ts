import { isUtf8 } from 'node:buffer'
import type { Finding } from '../proof/verdict.ts'
import { missingPayloads } from '../journal/missing-payload.ts'
import { readExport } from '../journal/read-export.ts'
import { archiveMembers, summarize } from './audit-archive.ts'
import { auditRuns } from './audit-run.ts'
import { nothing, readArchive, type ReadArchive } from './read-archive.ts'
import { writeRunPage } from './run-page.ts'
import { splitLines } from './split-lines.ts'
import { looksLikeZip } from './zip-reader.ts'
import { ZipWriter } from './zip-writer.ts'

/** What can be made of the lines of an export, and read back. */
export const reports = {
  /** The figures of an export in one line. */
  summarize: (lines: Iterable<string>): string => summarize(readExport(lines)),

  /** What was destroyed in the store that an export was made of, each in a sentence. */
  describeDamage: (lines: Iterable<string>): readonly string[] =>
    missingPayloads(readExport(lines)).map(({ chain, message }) => `${chain}: ${message}`),

  /** The page of the one run of an export. */
  writePage(lines: Iterable<string>): string {
    const [run] = auditRuns(readExport(lines))
    return run === undefined ? '' : writeRunPage(run)
  },

  /** Writes the archive of an export into a file. Throws `not_available` for what is too large, and what the platform throws. */
  writeArchive(path: string, lines: readonly string[]): void {
    const archive = new ZipWriter(path)
    try {
      for (const [name, content] of archiveMembers(lines)) archive.add(name, content)
    } finally {
      archive.close()
    }
  },

  /** The lines of an export, be it an archive or lines of JSON; null for what is neither. Throws `usage` for an archive of something else. */
  read(bytes: Buffer): ReadArchive | null {
    if (looksLikeZip(bytes)) return readArchive(bytes)
    const lines = splitLines(bytes)
    if (!looksLikeExport(lines)) return null
    return isUtf8(bytes) ? { journal: bytes, lines, findings: [] } : nothing([notText])
  },
}

/** Other bytes could stand for the same letters, and nobody would see that they were changed. */
const notText: Finding = { kind: 'unreadable', chain: null, seq: null, message: 'it is not UTF-8' }

/** What is left of an export that was damaged is still one, however it is spelled: its first line or one of its entries can be told. */
function looksLikeExport(lines: Iterable<string>): boolean {
  for (const line of lines) {
    if (/"lockstep"\s*:\s*"export"/.test(line) || /^\s*\{.*"(?:link|entry)"\s*:\s*\{/.test(line)) return true
  }
  return false
}
