import { styleText } from 'node:util'
import type { Terminal } from './terminal.ts'

/** The text in red where colours may be used; as it is elsewhere. */
export function paintRed(text: string, { colour }: Pick<Terminal, 'colour'>): string {
  return colour ? styleText('red', text, { validateStream: false }) : text
}
