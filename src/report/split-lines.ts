/** The lines of a text in UTF-8, one after the other, however long the text is. It can be gone through again. */
export function splitLines(bytes: Buffer): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      for (const [from, to] of lineRanges(bytes)) yield bytes.toString('utf8', from, to)
    },
  }
}

/** From where to where each line goes, without what ends it. */
export function* lineRanges(bytes: Buffer): Generator<readonly [from: number, to: number]> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start)
    const end = found === -1 ? bytes.length : found
    yield [start, end]
    start = end + 1
  }
}
