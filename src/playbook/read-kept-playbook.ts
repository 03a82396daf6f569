import { parsePlaybook } from './parse-playbook.ts'
import type { Playbook } from './playbook.ts'
import { programPlaybook } from './program-playbook.ts'
import type { Program } from './program.ts'
import type { JsonObject } from '../shared/json.ts'

/** The playbook of a text that was kept with a record; null if it is none. */
export function readKeptPlaybook(text: string): Playbook | null {
  const document = JSON.parse(text) as JsonObject
  if (document['program'] !== undefined)
    return programPlaybook(document['program'] as unknown as Program, String(document['id']))
  return parsePlaybook(text, { format: 'json' }).playbook
}
