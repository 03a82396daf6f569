import type { Command } from '../../src/cli/command.ts'
import { exitCode } from '../../src/cli/exit-code.ts'
import { LockstepError } from '../../src/shared/lockstep-error.ts'

/** Runs one command in this process, for commands that only read: starting a process takes longer than all they do. */
export async function runInProcess(
  command: Command,
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = ''
  let err = ''
  const terminal = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    colour: false,
  }
  try {
    return { code: await command.run(args, terminal), out, err }
  } catch (error) {
    if (!LockstepError.isInstance(error)) throw error
    const code = error.code === 'usage' ? exitCode.usage : exitCode.failed
    return { code, out, err: `${err}${error.message}\n${error.hint ?? ''}` }
  }
}
