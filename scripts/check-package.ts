/**
 * Packs the package as for publishing, lints its exports, installs it into an empty folder without any network, and
 * uses it there as a stranger would: runs the binary, imports the library, type-checks a consumer.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPackedFiles } from './check-packed-files.ts'
import { consumerConfig, consumerProgram, serveProgram } from './package-consumer.ts'
import { openRegistry, type PackedPackage } from './package-registry.ts'
import { productionPackages } from './production-packages.ts'
import { run } from './run-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-package-'))

try {
  const tarball = packProject()
  run('publint', ['run', tarball, '--strict'], { cwd: root })

  const consumer = join(folder, 'consumer')
  await install(consumer, tarball)
  checkPackedFiles(join(consumer, 'node_modules/lockstep'))
  runBinary(consumer)
  importLibrary(consumer)
  serve(consumer)
  runReadme(consumer)
  typeCheck(consumer)
  process.stdout.write('The packed package installs offline, runs, imports and type-checks.\n')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Packs the project and answers with the path of its tarball. */
function packProject(): string {
  const target = join(folder, 'project')
  mkdirSync(target)
  run('npm', ['pack', '--silent', '--pack-destination', target], { cwd: root })
  const [tarball, ...more] = readdirSync(target)
  if (tarball === undefined || more.length > 0) throw new Error('expected one tarball of the project')
  return join(target, tarball)
}

/** Packs the locked dependencies that a user installs too, as they lie in `node_modules`. */
function packDependencies(target: string): PackedPackage[] {
  mkdirSync(target)
  const paths = productionPackages(root)
  const options = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', target]
  const packed = JSON.parse(run('npm', [...options, ...paths.map((path) => `./${path}`)], { cwd: root }))
  const manifests = new Map(
    paths.map((path) => {
      const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'))
      return [`${manifest.name}@${manifest.version}`, manifest]
    }),
  )
  return packed.map((each: PackedPackage & { id: string }) => {
    const { name, version, filename, integrity } = each
    return { name, version, filename, integrity, manifest: manifests.get(each.id) }
  })
}

/** Installs the tarball from a registry that has the locked dependencies only. An empty cache makes sure that nothing else is used. */
async function install(consumer: string, tarball: string): Promise<void> {
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const tarballs = join(folder, 'dependencies')
  const registry = await openRegistry(tarballs, packDependencies(tarballs))
  try {
    const only = ['--registry', registry.url, '--cache', join(folder, 'cache'), '--no-audit', '--no-fund']
    run('npm', ['install', ...only, tarball], { cwd: consumer })
  } finally {
    await registry.stop()
  }
}

function runBinary(consumer: string): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const said = run('lockstep', ['--version'], {
    cwd: consumer,
    bin: join(consumer, 'node_modules/.bin'),
    silent: true,
  })
  if (!said.includes(version)) throw new Error(`lockstep --version says ${said.trim()}, not ${version}`)
  run('lockstep', ['demo'], { cwd: consumer, bin: join(consumer, 'node_modules/.bin'), silent: true })
}

function importLibrary(consumer: string): void {
  writeFileSync(join(consumer, 'consumer.ts'), consumerProgram)
  run('node', ['consumer.ts'], { cwd: consumer, silent: true })
}

function serve(consumer: string): void {
  writeFileSync(join(consumer, 'serve.mjs'), serveProgram)
  // It says on the error stream that it ends.
  run('node', ['serve.mjs'], { cwd: consumer })
}

/** Pastes the README's first program into the project, and compares what it prints with what the README says it prints. */
function runReadme(consumer: string): void {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, program, printed] = /```js\n(.*?)```\n\nIt prints\n\n```\n(.*?)```/s.exec(readme) ?? []
  if (program === undefined || printed === undefined)
    throw new Error('the README has no first program and its output')
  writeFileSync(join(consumer, 'first.mjs'), program)
  const said = run('node', ['first.mjs'], { cwd: consumer, silent: true })
  if (trimmed(said) !== trimmed(printed)) throw new Error(`the README's first program prints:\n${said}`)
}

/** Text without white space at the ends of its lines. */
function trimmed(text: string): string {
  return text.trimEnd().replaceAll(/[ \t]+$/gm, '')
}

function typeCheck(consumer: string): void {
  for (const moduleResolution of ['nodenext', 'bundler'] as const) {
    writeFileSync(join(consumer, 'tsconfig.json'), JSON.stringify(consumerConfig(moduleResolution)))
    run('tsc', ['-p', consumer], { cwd: root })
  }
}
