/**
 * Playbooks and policies, wherever they come from: published in the directory, checked out from Git, named by the configuration.
 *
 * Invariants
 * T1  What comes from Git or from a file of the configuration is read-only here.
 * T2  A policy that is in force and cannot be read keeps runs from beginning: none is left out.
 */
import type { Directory } from '../directory/directory.ts'
import { localTenant } from '../directory/open-directory.ts'
import type { PublishedPolicy, Runbook } from '../directory/state.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { compilePolicy, type CompiledPolicy } from '../policy/compile-policy.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { CheckedOut, ForeignTexts, ShelfVersion } from './checkout.ts'
import { readText, type ReadText } from '../playbook/read-text.ts'
import { playbookId, type PlaybookFormat } from './read-runbook.ts'
import { knownTools, type ToolCatalogue } from './tool-catalogue.ts'

/** Where a text is edited. */
export type TextOrigin =
  | { readonly kind: 'console' }
  | { readonly kind: 'git'; readonly commit: string | null; readonly path: string }

interface ShelfText {
  readonly id: string
  readonly name: string
  readonly project: string
  /** The oldest first. */
  readonly versions: readonly ShelfVersion[]
  readonly updatedAt: number
  readonly updatedBy: string
  readonly archived: boolean
  readonly origin: TextOrigin
}

/** A playbook on the shelf. */
export interface ShelfRunbook extends ShelfText {
  readonly kind: 'runbook'
  readonly format: PlaybookFormat
}

/** A policy on the shelf. */
export interface ShelfPolicy extends ShelfText {
  readonly kind: 'policy'
  readonly appliesTo: PublishedPolicy['appliesTo']
  readonly runbook: string | null
}

/** A policy that the configuration names, with its text. */
export interface ConfiguredPolicy {
  readonly path: string
  readonly text: string
  readonly policy: CompiledPolicy
  readonly digest: string
}

/** What a shelf is made of. */
export interface TextShelfOptions {
  readonly directory: Directory
  /** Texts that are edited elsewhere; null for none. */
  readonly foreign: ForeignTexts | null
  readonly configured: readonly ConfiguredPolicy[]
  readonly tools: Pick<ToolCatalogue, 'tools'>
  readonly startedAt: number
}

const mostKept = 500

/** All texts of an installation. What is not of the directory belongs to the first tenant and its default project. */
export class TextShelf {
  readonly #options: TextShelfOptions
  readonly #read = new Map<string, ReadText>()
  readonly #compiled = new Map<string, CompiledPolicy>()

  constructor(options: TextShelfOptions) {
    this.#options = options
  }

  /** The playbooks of a tenant that are not deleted. */
  async runbooks(tenant: string): Promise<readonly ShelfRunbook[]> {
    const { directory } = this.#options
    await this.#options.foreign?.current()
    return [...this.#checkedOut(tenant), ...directory.runbooks.list(tenant).map(published)]
  }

  /** The playbook with the id; null if there is none. */
  async runbook(
    tenant: string,
    id: string,
    options: { readonly deleted?: boolean } = {},
  ): Promise<ShelfRunbook | null> {
    await this.#options.foreign?.current()
    const known = this.#options.directory.runbooks.find(tenant, id, options)
    return known === null
      ? (this.#checkedOut(tenant).find((each) => each.id === id) ?? null)
      : published(known)
  }

  /** The playbook with the id, or the name in the project (in any, for null, where it is the only one); null if there is none. */
  async findRunbook(tenant: string, idOrName: string, project: string | null): Promise<ShelfRunbook | null> {
    const all = await this.runbooks(tenant)
    const byId = all.find(({ id }) => id === idOrName)
    if (byId !== undefined) return byId
    const named = all.filter(
      (each) => each.name === idOrName && (project === null || each.project === project),
    )
    return named.length === 1 ? named[0]! : null
  }

  /** The text of a version. Throws `not_found` if there is no such version. */
  async text(tenant: string, text: ShelfRunbook | ShelfPolicy, version: number): Promise<string> {
    const { directory } = this.#options
    if (text.origin.kind === 'console') {
      const known =
        text.kind === 'runbook'
          ? directory.runbooks.find(tenant, text.id, { deleted: true })
          : directory.policies.find(tenant, text.id, { deleted: true })
      if (known !== null)
        return known.kind === 'runbook'
          ? await directory.runbooks.text(known, version)
          : await directory.policies.text(known, version)
    }
    const found =
      this.#foreign()
        .find(({ id }) => id === text.id)
        ?.textOf(version) ?? null
    if (found === null)
      throw new LockstepError('not_found', `There is no version ${version} of ${text.name}.`)
    return found
  }

  /** A version of a playbook as it reads now, with the tools there are. */
  async read(
    tenant: string,
    runbook: ShelfRunbook,
    version: number,
  ): Promise<ReadText & { readonly text: string }> {
    const text = await this.text(tenant, runbook, version)
    if (runbook.origin.kind === 'git' && version === runbook.versions.at(-1)!.version) {
      const found = this.#options.foreign?.state.playbooks.find(({ id }) => id === runbook.id)
      if (found !== undefined) return { text, playbook: found.playbook, diagnostics: found.diagnostics }
    }
    const { digest } = runbook.versions.find((each) => each.version === version)!
    const key = `${digest} ${runbook.format} ${playbookId(runbook.name)}`
    let known = this.#read.get(key)
    if (known === undefined) {
      known = readText(text, runbook.format, knownTools(this.#options.tools), playbookId(runbook.name))
      if (this.#read.size >= mostKept) this.#read.clear()
      this.#read.set(key, known)
    }
    return { ...known, text }
  }

  /** The playbook of a version, ready to run. Throws `invalid_playbook` if it has errors by now. */
  async open(tenant: string, runbook: ShelfRunbook, version: number): Promise<Playbook> {
    const { playbook, diagnostics } = await this.read(tenant, runbook, version)
    if (playbook !== null) return playbook
    const first = diagnostics.find(({ severity }) => severity === 'error')
    throw new LockstepError(
      'invalid_playbook',
      `${runbook.name} has errors: ${first?.message ?? 'it cannot be read'}`,
    )
  }

  /** Who wrote a version of a playbook: they cannot approve its calls. */
  editorsOf(tenant: string, id: string, version: number): readonly string[] {
    const known = this.#options.directory.runbooks.find(tenant, id, { deleted: true })
    const by = known?.versions[version - 1]?.by
    return by === undefined || by === 'lockstep' ? [] : [by]
  }

  /** The policies of a tenant that are not deleted. */
  async policies(tenant: string): Promise<readonly ShelfPolicy[]> {
    const { directory } = this.#options
    await this.#options.foreign?.current()
    return [...this.#foreignPolicies(tenant), ...directory.policies.list(tenant).map(publishedPolicy)]
  }

  /** The policy with the id; null if there is none. */
  async policy(tenant: string, id: string): Promise<ShelfPolicy | null> {
    return (await this.policies(tenant)).find((each) => each.id === id) ?? null
  }

  /** The policies that a run in a project, by a playbook, stands under now (T2). Throws `invalid_policy`. */
  async policiesFor(
    tenant: string,
    project: string,
    runbook: string | null,
  ): Promise<readonly CompiledPolicy[]> {
    const all = await this.policies(tenant)
    const compiled: CompiledPolicy[] = []
    for (const policy of all) {
      const holds =
        policy.origin.kind === 'git' ||
        policy.appliesTo === 'tenant' ||
        (policy.appliesTo === 'project' && policy.project === project) ||
        (policy.appliesTo === 'runbook' && runbook !== null && policy.runbook === runbook)
      if (holds) compiled.push(await this.compile(tenant, policy))
    }
    return compiled
  }

  /** The newest version of a policy, compiled. Throws `invalid_policy`. */
  async compile(tenant: string, policy: ShelfPolicy): Promise<CompiledPolicy> {
    const { version, digest } = policy.versions.at(-1)!
    const known = this.#compiled.get(digest)
    if (known !== undefined) return known
    const text = await this.text(tenant, policy, version)
    const parsed = parsePolicy(text, { format: /^\s*\{/.test(text) ? 'json' : 'yaml' })
    if (parsed.policy === null)
      throw new LockstepError(
        'invalid_policy',
        `The policy ${policy.name} has errors: ${parsed.diagnostics[0]?.message}`,
      )
    const compiled = compilePolicy(parsed.policy)
    if (this.#compiled.size >= mostKept) this.#compiled.clear()
    this.#compiled.set(digest, compiled)
    return compiled
  }

  /** Throws `read_only` for a text that is not edited here (T1). */
  assertEditable({ name, origin }: ShelfRunbook | ShelfPolicy): void {
    if (origin.kind === 'console') return
    throw new LockstepError('read_only', `${name} is read only here: it comes from ${origin.path}.`, {
      hint:
        origin.commit === null ? 'Edit that file, and start again.' : 'Commit the change to that checkout.',
    })
  }

  #checkedOut(tenant: string): ShelfRunbook[] {
    const state = this.#options.foreign?.state
    if (tenant !== localTenant || state === undefined) return []
    return state.playbooks.map((each) => ({ ...this.#ofGit(each), kind: 'runbook', format: each.format }))
  }

  #foreignPolicies(tenant: string): ShelfPolicy[] {
    const scope = { kind: 'policy', appliesTo: 'tenant', runbook: null } as const
    const project = this.#options.directory.projects.default(tenant).id
    const { startedAt, configured } = this.#options
    const checkedOut = tenant === localTenant ? this.#options.foreign?.state.policies : undefined
    return [
      ...(checkedOut?.map((each) => ({ ...this.#ofGit(each), ...scope })) ?? []),
      // Every tenant uses the tools of the installation, so what is configured for these holds for every tenant.
      ...configured.map(({ path, policy, digest }) => ({
        id: configuredId(policy),
        name: policy.ref.id,
        project,
        versions: [{ version: 1, digest, by: 'lockstep', at: startedAt, note: null, commit: null }],
        updatedAt: startedAt,
        updatedBy: 'lockstep',
        archived: false,
        origin: { kind: 'git', commit: null, path } as const,
        ...scope,
      })),
    ]
  }

  #ofGit({ id, name, path, versions }: CheckedOut): ShelfText {
    const { at, by, commit } = versions.at(-1)!
    return {
      id,
      name,
      project: this.#options.directory.projects.default(localTenant).id,
      versions,
      updatedAt: at,
      updatedBy: by,
      archived: false,
      origin: { kind: 'git', commit, path },
    }
  }

  #foreign(): readonly Pick<CheckedOut, 'id' | 'textOf'>[] {
    const state = this.#options.foreign?.state
    const configured = this.#options.configured.map(({ policy, text }) => ({
      id: configuredId(policy),
      textOf: (version: number) => (version === 1 ? text : null),
    }))
    return [...(state?.playbooks ?? []), ...(state?.policies ?? []), ...configured]
  }
}

function configuredId({ ref }: CompiledPolicy): string {
  return `config.${ref.id}`
}

function published(runbook: Runbook): ShelfRunbook {
  return { ...common(runbook), kind: 'runbook', format: runbook.format }
}

function publishedPolicy(policy: PublishedPolicy): ShelfPolicy {
  return { ...common(policy), kind: 'policy', appliesTo: policy.appliesTo, runbook: policy.runbook }
}

function common({
  id,
  name,
  project,
  versions,
  updatedAt,
  updatedBy,
  archived,
}: Runbook | PublishedPolicy): ShelfText {
  return {
    id,
    name,
    project,
    versions: versions.map((each) => ({ ...each, commit: null })),
    updatedAt,
    updatedBy,
    archived,
    origin: { kind: 'console' },
  }
}
