import type { Playbook } from '../playbook/playbook.ts'
import { isMarkdown, playbookOfFile } from '../source/load-program.ts'
import { PlaybookLoader } from '../source/playbook-loader.ts'
import { openMarkdown } from './open-markdown.ts'
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
  return program === null ? null : playbookOfFile(program, file)
}
