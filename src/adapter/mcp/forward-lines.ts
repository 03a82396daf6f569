import { StringDecoder } from 'node:string_decoder'
import type { Readable } from 'node:stream'

/** Masks secrets in a text and cuts it, so that no half of one is left; `whole` says whether nothing follows. */
export type CutText = (text: string, most: number, whole: boolean) => string

/** The rest of a longer line is left out: what nobody ends must not be kept for ever. */
const longestLine = 65_536

/** Passes what a stream says on, line by line and masked: only a whole line is sure to hold a whole secret. */
export function forwardLines(from: Readable, cutText: CutText, to: (text: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let line = ''
  let overlong = false
  const tell = () => {
    if (line !== '') to(`${cutText(line, longestLine, !overlong)}\n`)
    else if (!overlong) to('\n')
    line = ''
    overlong = false
  }
  const take = (text: string) => {
    const room = longestLine * 2 - line.length
    line += text.slice(0, room)
    if (line.length > longestLine) overlong = true
  }
  from.on('data', (chunk: Buffer) => {
    const [first = '', ...more] = decoder.write(chunk).split('\n')
    take(first)
    for (const each of more) {
      tell()
      take(each)
    }
  })
  from.on('end', () => {
    take(decoder.end())
    if (line !== '') tell()
  })
  from.on('error', () => undefined)
}
