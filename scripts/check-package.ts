/**
 * Packs the package as for publishing, lints its exports, installs it into an empty folder without any network, and
 * uses it there as a stranger would: runs the binary, imports the library, type-checks a consumer.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPackedFiles } from './check-packed-files.ts'
import { consumerProgram, consumerConfig } from './package-consumer.ts'
import { productionPackages } from './production-packages.ts'
import { run } from './run-command.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'lockstep-package-'))

try {
  const tarball = pack(root, 'lockstep', [])
  run('publint', ['run', tarball, '--strict'], { cwd: root })

  const consumer = join(folder, 'consumer')
  install(consumer, tarball)
  checkPackedFiles(join(consumer, 'node_modules/lockstep'))
  runBinary(consumer)
  importLibrary(consumer)
  runReadme(consumer)
  typeCheck(consumer)
  process.stdout.write('The packed package installs offline, runs, imports and type-checks.\n')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Packs the package in `from` and answers with the path of its tarball. */
function pack(from: string, name: string, options: readonly string[]): string {
  const target = join(folder, 'tarballs', name.replace('/', '-'))
  mkdirSync(target, { recursive: true })
  run('npm', ['pack', '--silent', '--pack-destination', target, ...options], { cwd: from })
  const [tarball, ...more] = readdirSync(target)
  if (tarball === undefined || more.length > 0) throw new Error(`expected one tarball of ${name}`)
  return join(target, tarball)
}

/**
 * Installs the tarball and, in place of what the registry would answer, tarballs of the locked dependencies. An empty
 * cache and `--offline` make sure that nothing else is used.
 */
function install(consumer: string, tarball: string): void {
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const dependencies = productionPackages(root).map(({ name, path }) =>
    pack(path, name, ['--ignore-scripts']),
  )
  const cache = join(folder, 'cache')
  const quiet = ['--offline', '--no-audit', '--no-fund', '--cache', cache]
  run('npm', ['install', ...quiet, tarball, ...dependencies], { cwd: consumer })
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
