import { verify } from 'node:crypto'
import { exportPlain } from '../../src/journal/export-chains.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import type { Playbook } from '../../src/playbook/playbook.ts'
import { compilePlaybook } from '../../src/playbook/compile-playbook.ts'
import type { Verdict } from '../../src/proof/verdict.ts'
import { verifyExport, type VerifyOptions } from '../../src/proof/verify-export.ts'
import type { RunEvent } from '../../src/run/event.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'

/** The platform's check of a signature. */
export const verifySignature: VerifyOptions['verifySignature'] = (key, text, signature) =>
  verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))

/** Events as entries of a journal without a chain. */
export function entriesOf(events: readonly RunEvent[], run = 'r1'): JournalEntry[] {
  return events.map(({ type, at, ...data }, index): JournalEntry => {
    const place = { v: 1, run, seq: index + 1, at, tenant: 't', principal: 'p', type } as const
    return { ...place, data: JSON.parse(JSON.stringify(data)) as JsonObject }
  })
}

/** What is found out about a run that was kept without a chain, so that only its decisions are judged. */
export function judgeEntries(
  entries: readonly JournalEntry[],
  playbook: Playbook,
  more: Readonly<Record<string, Json>> = {},
): Verdict {
  const documents = { [compilePlaybook(playbook).digest]: playbook.toJSON(), ...more }
  return verifyExport(exportPlain(entries, documents), { verifySignature })
}
