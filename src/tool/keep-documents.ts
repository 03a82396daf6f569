import type { ChainStore } from '../journal/chain-store.ts'
import type { Journal } from '../journal/journal.ts'
import { compilePlaybook } from '../playbook/compile-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { toolManifest } from './tool-manifest.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** What the verdicts of a run rest on. */
export interface RunDocuments {
  readonly playbook: Playbook
  readonly policies: readonly CompiledPolicy[]
  readonly tools: ToolRegistry | null
}

const kept = new WeakMap<Journal, Set<string>>()

/** Keeps the texts that a run refers to by their digests with its record, so that its decisions can be made again from there. */
export async function keepDocuments(
  journal: Journal & Partial<Pick<ChainStore, 'keep'>>,
  { playbook, policies, tools }: RunDocuments,
): Promise<void> {
  if (journal.keep === undefined) return
  const known = kept.get(journal) ?? new Set()
  kept.set(journal, known)
  const keep = async (digest: string, text: () => string) => {
    if (known.has(digest)) return
    await journal.keep?.(text())
    known.add(digest)
  }
  await keep(compilePlaybook(playbook).digest, () => canonicalJson(playbook.toJSON()))
  for (const { ref, source } of policies) await keep(ref.digest, () => canonicalJson(source))
  const manifest = tools === null ? null : toolManifest(tools)
  if (manifest !== null) await keep(manifest.digest, () => manifest.text)
}
