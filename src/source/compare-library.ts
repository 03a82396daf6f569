import { type Publishable, type PublishedKind, type PublishedVersion, versionDigest } from './library.ts'

/** How a text of a tree stands to what is published under its name; `gone` is published from the tree and no longer in it. */
export type Standing = 'new' | 'changed' | 'unchanged' | 'gone'

/** One name of a tree, or one that is gone from it. */
export interface Compared {
  readonly standing: Standing
  readonly kind: PublishedKind
  readonly name: string
  /** From the top of the work tree. */
  readonly path: string
  readonly digest: string
  /** What is published under the name; null if nothing is. */
  readonly published: PublishedVersion | null
}

/** Which part of which work tree is looked at; `folder` is found from the root, and empty for all of it. */
export interface Scope {
  readonly root: string
  readonly folder: string
}

/** What publishing a tree would do, by kind and name, and the texts that would be published: those that are new or changed. */
export function compareLibrary(
  versions: readonly PublishedVersion[],
  tree: readonly Publishable[],
  scope: Scope,
): { readonly compared: readonly Compared[]; readonly publish: readonly Publishable[] } {
  const latest = new Map(versions.map((version) => [keyOf(version), version]))
  const found = new Map(tree.map((each) => [keyOf(each), compare(each, latest.get(keyOf(each)) ?? null)]))
  const gone = [...latest.values()]
    .filter((version) => isInside(version, scope) && !found.has(keyOf(version)))
    .map((version): Compared => {
      const { kind, name, path, digest } = version
      return { standing: 'gone', kind, name, path, digest, published: version }
    })
  const compared = [...found.values(), ...gone].toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const publish = tree.filter((each) => found.get(keyOf(each))!.standing !== 'unchanged')
  return { compared, publish }
}

function compare(each: Publishable, published: PublishedVersion | null): Compared {
  const { kind, name, path } = each
  const digest = versionDigest(each)
  const standing =
    published === null ? 'new' : published.digest === digest ? 'unchanged' : ('changed' as const)
  return { standing, kind, name, path, digest, published }
}

/** Only what came from here can be gone from here: other trees publish to the same library. */
function isInside({ root, path }: PublishedVersion, scope: Scope): boolean {
  return root === scope.root && (scope.folder === '' || path.startsWith(`${scope.folder}/`))
}

function keyOf({ kind, name }: { readonly kind: PublishedKind; readonly name: string }): string {
  return `${kind} ${name}`
}
