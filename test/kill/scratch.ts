import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'lockstep-kill-'))
// Removing what many cuts left takes a slow disk its time.
afterAll(() => rmSync(root, { recursive: true, force: true }), 120_000)

/** A new folder that is gone when the tests of the file are over. */
export function scratch(): string {
  return mkdtempSync(join(root, 'w-'))
}
