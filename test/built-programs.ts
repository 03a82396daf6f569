/**
 * The programs that tests start as processes, each built into a few files and laid out as the published package is. Node takes longer to find and read the
 * hundreds of modules of the sources than most tests take for all the rest. That the sources run as they are, test/e2e/command-line.test.ts shows.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const shelf = join(root, 'node_modules/.cache/lockstep-programs')
const folder = await built().catch((error: unknown) => {
  process.stderr.write(
    `The programs of the tests were not built, and start slowly from their sources: ${String(error)}\n`,
  )
  return null
})

/** The command line. */
export const lockstepProgram = join(folder ?? root, 'bin/lockstep.js')
/** The shop of the demonstration as an MCP server. */
export const deskProgram =
  folder === null ? join(root, 'test/mcp/desk-server.ts') : join(folder, 'bin/desk-server.js')
/** Works on a run until it kills itself. */
export const killedProgram =
  folder === null ? join(root, 'test/kill/killed-child.ts') : join(folder, 'bin/killed-child.js')

/** The folder with what was made of the sources as they are now; made by whoever comes first. */
async function built(): Promise<string> {
  const wanted = join(shelf, fingerprint())
  if (existsSync(wanted)) return wanted
  mkdirSync(shelf, { recursive: true })
  forgetOld()
  const own = mkdtempSync(join(shelf, 'new-'))
  try {
    await write(own)
    renameSync(own, wanted)
  } catch (error) {
    rmSync(own, { recursive: true, force: true })
    // Another worker may have been as early.
    if (!existsSync(wanted)) throw error
  }
  return wanted
}

/** Removes what no test run of today uses. */
function forgetOld(): void {
  const day = 24 * 60 * 60 * 1000
  for (const name of readdirSync(shelf)) {
    const path = join(shelf, name)
    const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < Date.now() - day) rmSync(path, { recursive: true, force: true })
  }
}

/** Says of every source where it lies and when it was changed. */
function fingerprint(): string {
  const hash = createHash('sha256').update(root)
  const entries = ['src', 'bin', 'test/kill', 'test/mcp'].flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, withFileTypes: true }),
  )
  const sources = entries.filter((entry) => entry.isFile() && !/[.](?:test|suite)[.]ts$/.test(entry.name))
  const paths = sources.map((entry) => join(entry.parentPath, entry.name)).toSorted()
  for (const path of [...paths, join(root, 'package-lock.json'), fileURLToPath(import.meta.url)]) {
    const { mtimeNs, size } = statSync(path, { bigint: true })
    hash.update(`${path} ${mtimeNs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

async function write(target: string): Promise<void> {
  // Loaded by the one who builds; it is large.
  const { build } = await import('vite')
  await build({
    root,
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'esnext',
      minify: false,
      outDir: join(target, 'dist'),
      rolldownOptions: {
        input: {
          'cli/main': join(root, 'src/cli/main.ts'),
          'source/keep-compiled': join(root, 'src/source/keep-compiled.ts'),
          'cli/desk-server': join(root, 'test/mcp/desk-server.ts'),
          'cli/killed-child': join(root, 'test/kill/killed-child.ts'),
        },
        // As it was written: nothing is left out because nobody seems to need it.
        treeshake: false,
        // At the depth at which the package has them: some find files of the package from where they are.
        output: { entryFileNames: '[name].js', chunkFileNames: 'cli/[name]-[hash].js' },
      },
    },
  })
  mkdirSync(join(target, 'bin'))
  for (const file of ['bin/lockstep.js', 'package.json']) copyFileSync(join(root, file), join(target, file))
  for (const name of ['desk-server', 'killed-child'])
    writeFileSync(join(target, `bin/${name}.js`), starter(name))
  for (const name of ['examples', 'docs']) symlinkSync(join(root, name), join(target, name))
}

/** Finds what was compiled before also where it is given no environment. */
function starter(name: string): string {
  const cache = JSON.stringify(process.env['NODE_COMPILE_CACHE'])
  return `import { enableCompileCache } from 'node:module'
enableCompileCache(${cache})
await import('../dist/cli/${name}.js')
`
}
