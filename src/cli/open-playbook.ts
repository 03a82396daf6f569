import { basename, extname } from 'node:path'
import type { Playbook } from '../playbook/playbook.ts'
import { programPlaybook } from '../playbook/program-playbook.ts'
import { PlaybookLoader } from '../source/playbook-loader.ts'
import { isMarkdown, openMarkdown } from './open-markdown.ts'
import type { Terminal } from './terminal.ts'

/**
 * Opens a playbook in whatever form it is written. Of a Markdown playbook with errors they are shown, and there is none; of any other
 * file, throws PlaybookLoadError.
 */
export async function openPlaybook(
  file: string,
  config: string | undefined,
  terminal: Terminal,
): Promise<Playbook | null> {
  if (!isMarkdown(file)) return new PlaybookLoader().loadFile(file)
  const program = await openMarkdown(file, config, terminal)
  return program === null ? null : programPlaybook(program, idOf(file))
}

/** The name of a file as an id may be spelled. */
function idOf(file: string): string {
  const name = basename(file, extname(file)).replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
  return /^[A-Za-z0-9_]/.test(name) ? name.slice(0, 128) : `p${name}`.slice(0, 128)
}
