import { compilePlaybook, type CompiledPlaybook } from '../playbook/compile-playbook.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import type { Program } from '../playbook/program.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { checkPolicy } from '../policy/check-policy.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { defaultPolicy } from '../policy/default-policy.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import { isJsonObject, type Json } from '../shared/json.ts'

/** Null where it is not in the export, `forged` where what is there is not what its digest says. */
type Found<Kind> = Kind | 'forged' | null

/** The playbooks, policies and lists of tools of an export by their digest, each read once for all runs. */
export class Documents {
  readonly #documents: Readonly<Record<string, Json>>
  readonly #playbooks = new Map<string, Found<CompiledPlaybook>>()
  readonly #policies = new Map<string, Found<CompiledPolicy>>()
  readonly #risks = new Map<string, Found<ReadonlyMap<string, string>>>()

  constructor(documents: Readonly<Record<string, Json>>) {
    this.#documents = documents
  }

  playbook(name: string): Found<CompiledPlaybook> {
    return this.#find(this.#playbooks, name, (document) => {
      const compiled = compilePlaybook(readPlaybook(document))
      return compiled.digest === name ? compiled : 'forged'
    })
  }

  policy(name: string): Found<CompiledPolicy> {
    const preset = defaultPolicy()
    if (name === preset.ref.digest) return preset
    return this.#find(this.#policies, name, (document) => {
      const { policy } = checkPolicy(document)
      return policy?.digest === name ? compilePolicy(policy) : 'forged'
    })
  }

  /** What each tool of a run can do at worst, by its name. */
  risks(name: string): Found<ReadonlyMap<string, string>> {
    return this.#find(this.#risks, name, (document) => {
      const tools = (isJsonObject(document) ? document['tools'] : []) as readonly Record<string, string>[]
      return new Map(tools.map((tool) => [tool['name']!, tool['risk']!]))
    })
  }

  #find<Kind>(
    known: Map<string, Found<Kind>>,
    name: string,
    read: (document: Json) => Kind | 'forged',
  ): Found<Kind> {
    let found = known.get(name)
    if (found !== undefined) return found
    const document = Object.hasOwn(this.#documents, name) ? this.#documents[name]! : undefined
    found = document === undefined ? null : readSafely(document, name, read)
    known.set(name, found)
    return found
  }
}

function readSafely<Kind>(document: Json, name: string, read: (document: Json) => Kind): Kind | 'forged' {
  try {
    return digest(canonicalJson(document)) === name ? read(document) : 'forged'
  } catch {
    return 'forged'
  }
}

function readPlaybook(document: Json) {
  const program = isJsonObject(document) ? document['program'] : undefined
  if (isJsonObject(document) && program !== undefined)
    return programPlaybook(program as unknown as Program, String(document['id']))
  const { playbook } = parsePlaybook(JSON.stringify(document), { format: 'json' })
  if (playbook === null) throw new TypeError('this is no playbook')
  return playbook
}
