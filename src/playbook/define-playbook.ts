import { Playbook, type PlaybookDefinition } from './playbook.ts'

/** Declares a playbook in TypeScript. Throws PlaybookLoadError with every problem of the definition. */
export function definePlaybook(definition: PlaybookDefinition): Playbook {
  return new Playbook(definition)
}
