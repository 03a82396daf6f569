import { runCommandLine } from '../../src/cli/main.ts'

/**
 * Runs the command line in this process, which is lent its folder and its environment for that time: for commands that read, and are over when they have
 * answered. Starting a process takes longer than all they do. One of each kind is started as a process elsewhere.
 */
export async function runHere(
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [folder, environment] = [process.cwd(), process.env]
  let [out, err] = ['', '']
  process.chdir(options.cwd)
  process.env = { ...environment, ...options.env }
  try {
    const code = await runCommandLine(args, {
      out: (text) => void (out += text),
      err: (text) => void (err += text),
      colour: false,
    })
    return { code, out, err }
  } finally {
    process.chdir(folder)
    process.env = environment
  }
}
