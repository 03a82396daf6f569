import { spawnSync } from 'node:child_process'
import { basename, delimiter, isAbsolute } from 'node:path'

type Options = {
  readonly cwd: string
  /** A folder whose commands win over those of the same name elsewhere. */
  readonly bin?: string
  /** Demands that nothing reaches the error stream: no warning of the runtime may reach a user's screen. */
  readonly silent?: boolean
}

/** Runs a command and answers with what it printed; throws, showing all its output, when it fails. */
export function run(command: string, args: readonly string[], options: Options): string {
  const shown = args.map((arg) => (isAbsolute(arg) ? basename(arg) : arg))
  const line = [command, ...shown.slice(0, 12), ...(shown.length > 12 ? ['…'] : [])]
  process.stdout.write(`$ ${line.join(' ')}\n`)
  const path = process.env['PATH'] ?? ''
  const result = spawnSync(command, args, {
    cwd: options.cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH: options.bin === undefined ? path : `${options.bin}${delimiter}${path}` },
    shell: process.platform === 'win32',
  })
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`
  if (result.status !== 0)
    throw new Error(`${command} ended with ${result.status ?? result.error}:\n${output}`)
  if (options.silent === true && result.stderr !== '') {
    throw new Error(`${command} wrote to the error stream:\n${result.stderr}`)
  }
  return result.stdout
}
