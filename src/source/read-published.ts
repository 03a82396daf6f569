import { Library, type PublishedKind, type PublishedText } from './library.ts'

/** The version of a name that was published last; null if none was. Throws `library_unreadable`. */
export function readPublished(kind: PublishedKind, name: string, home?: string): PublishedText | null {
  const library = new Library(home)
  const version = library.versions().findLast((each) => each.kind === kind && each.name === name)
  return version === undefined ? null : library.read(version)
}

/** The version of a digest, whatever its name; null if none was published. Throws `library_unreadable`. */
export function readPublishedDigest(digest: string, home?: string): PublishedText | null {
  const library = new Library(home)
  const version = library.versions().findLast((each) => each.digest === digest)
  return version === undefined ? null : library.read(version)
}
