import type { Runbook, PublishedPolicy, TenantState } from './state.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { ActLog } from './act-log.ts'
import type { DirectoryFact } from './fact.ts'
import { newId } from './new-id.ts'
import type { Actor } from './principal.ts'
import { assertFree, found } from './refusal.ts'

/** The kinds of texts that are published, each with what is published of it. */
interface TextKinds {
  readonly runbook: { readonly published: Runbook; readonly extra: Pick<Runbook, 'format'> }
  readonly policy: {
    readonly published: PublishedPolicy
    readonly extra: Pick<PublishedPolicy, 'appliesTo' | 'runbook'>
  }
}
export type TextKind = keyof TextKinds

/** A text to be published, as a new thing or as the next version of one. */
export type NewText<Kind extends TextKind> = TextKinds[Kind]['extra'] & {
  readonly name: string
  readonly text: string
  readonly note: string | null
}

/** Playbooks, or policies, as they were published: every version there ever was. */
export class PublishedTexts<Kind extends TextKind> {
  readonly #log: ActLog
  readonly #kind: Kind

  constructor(log: ActLog, kind: Kind) {
    this.#log = log
    this.#kind = kind
  }

  /** What is published in the tenant and not deleted, in the order in which it was first published. */
  list(tenant: string): readonly TextKinds[Kind]['published'][] {
    return [...this.#all(this.#log.state(tenant)).values()].filter(({ deleted }) => !deleted)
  }

  /** The one with the id; null if there is none. What was deleted is there for who asks for it. */
  find(tenant: string, id: string, { deleted = false } = {}): TextKinds[Kind]['published'] | null {
    const known = this.#all(this.#log.state(tenant)).get(id)
    return known === undefined || (known.deleted && !deleted) ? null : known
  }

  /** The one with the name in the project; null if there is none. */
  byName(tenant: string, project: string, name: string): TextKinds[Kind]['published'] | null {
    return this.#named(this.#log.state(tenant), project, name)
  }

  /** The text of a version. Throws `not_found` if there is no such version. */
  async text({ id, versions }: TextKinds[Kind]['published'], version: number): Promise<string> {
    const known = found(versions[version - 1], `version of ${id},`, String(version))
    const text = await this.#log.store.kept(known.digest)
    if (text !== null) return text
    throw new LockstepError('journal_unreadable', `The text ${known.digest} is not in the store.`)
  }

  /** Publishes a text under a name of its own. Throws `not_found` for an unknown project, `duplicate` if the name is taken in it. */
  async publish(actor: Actor, project: string, wanted: NewText<Kind>): Promise<TextKinds[Kind]['published']> {
    const id = newId(this.#kind === 'runbook' ? 'rb' : 'pol')
    const digest = await this.#log.store.keep(wanted.text)
    return await this.#log.act(actor, (state) => {
      found(state.projects.get(project), 'project', project)
      assertFree(this.#named(state, project, wanted.name) !== null, this.#kind, wanted.name)
      return {
        facts: [this.#fact({ id, project, version: 1, digest }, wanted)],
        result: (after) => this.#all(after).get(id)!,
      }
    })
  }

  /**
   * Publishes the next version; one that says the same is no new one. Throws `not_found`, `version_conflict` if the newest version is not the expected one, `duplicate`
   * if the name is taken.
   */
  async revise(
    actor: Actor,
    id: string,
    expected: number | null,
    wanted: NewText<Kind>,
  ): Promise<TextKinds[Kind]['published']> {
    const digest = await this.#log.store.keep(wanted.text)
    return await this.#log.act(actor, (state) => {
      const known = this.#expected(state, id, expected)
      const { project, versions } = known
      const other = this.#named(state, project, wanted.name)
      assertFree(other !== null && other.id !== id, this.#kind, wanted.name)
      const result = (after: TenantState) => this.#all(after).get(id)!
      const next = this.#fact({ id, project, version: versions.length + 1, digest }, wanted)
      const { text: _, note: __, ...said } = wanted
      const isSame =
        versions.at(-1)!.digest === digest &&
        Object.entries(said).every(([key, value]) => known[key as keyof typeof known] === value)
      return { facts: isSame ? [] : [next], result }
    })
  }

  /** Deletes it: its name is free, its versions stay for the runs that were begun with them. Throws `not_found` or `version_conflict`. */
  async remove(actor: Actor, id: string, expected: number | null): Promise<void> {
    await this.#log.act(actor, (state) => {
      this.#expected(state, id, expected)
      const type = this.#kind === 'runbook' ? 'runbook.deleted' : 'policy.deleted'
      return { facts: [{ type, data: { id } }], result: () => undefined }
    })
  }

  #all(state: TenantState): ReadonlyMap<string, TextKinds[Kind]['published']> {
    return (this.#kind === 'runbook' ? state.runbooks : state.policies) as ReadonlyMap<
      string,
      TextKinds[Kind]['published']
    >
  }

  #named(state: TenantState, project: string, name: string): TextKinds[Kind]['published'] | null {
    for (const each of this.#all(state).values())
      if (!each.deleted && each.project === project && each.name === name) return each
    return null
  }

  #expected(state: TenantState, id: string, expected: number | null): TextKinds[Kind]['published'] {
    const known = this.#all(state).get(id)
    const there = found(known?.deleted === false ? known : null, this.#kind, id)
    const newest = there.versions.length
    if (expected === null || expected === newest) return there
    throw new LockstepError(
      'version_conflict',
      `The newest version of ${there.name} is ${newest}, not ${expected}.`,
      {
        hint: 'Read it again, and change what is there now.',
      },
    )
  }

  #fact(
    place: {
      readonly id: string
      readonly project: string
      readonly version: number
      readonly digest: string
    },
    wanted: NewText<Kind>,
  ): DirectoryFact {
    const { name, note } = wanted
    if (this.#kind === 'runbook') {
      const { format } = wanted as NewText<'runbook'>
      return { type: 'runbook.published', data: { ...place, name, note, format } }
    }
    const { appliesTo, runbook } = wanted as NewText<'policy'>
    return { type: 'policy.published', data: { ...place, name, note, appliesTo, runbook } }
  }
}

/** Playbooks can be put away besides: no run is begun with one that is. */
export class PublishedRunbooks extends PublishedTexts<'runbook'> {
  readonly #acts: ActLog

  constructor(log: ActLog) {
    super(log, 'runbook')
    this.#acts = log
  }

  /** Puts a playbook away, or takes it out again. Throws `not_found`. */
  async archive(actor: Actor, id: string, archived: boolean): Promise<Runbook> {
    return await this.#acts.act(actor, (state) => {
      const known = state.runbooks.get(id)
      const there = found(known?.deleted === false ? known : null, 'runbook', id)
      const type = archived ? 'runbook.archived' : 'runbook.unarchived'
      return {
        facts: there.archived === archived ? [] : [{ type, data: { id } }],
        result: ({ runbooks }) => runbooks.get(id)!,
      }
    })
  }
}
