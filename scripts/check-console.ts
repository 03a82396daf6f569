/** Measures what a browser loads before the first page of the built console shows, and fails when that is too much. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

type Chunk = {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

const limit = 250 * 1024
const folder = fileURLToPath(new URL('../dist/console', import.meta.url))
const manifest = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as Record<
  string,
  Chunk
>

const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true)
if (entry === undefined) throw new Error('the build has no entry: has the console been built?')
const shell = closure([entry])
const pages = (manifest[entry]?.dynamicImports ?? []).map((name) => {
  const files = closure([entry, name])
  return { name, bytes: measure(files) }
})
const heaviest = pages.toSorted((left, right) => right.bytes - left.bytes)

process.stdout.write(`shell: ${kilobytes(measure(shell))}\n`)
for (const { name, bytes } of heaviest) process.stdout.write(`shell and ${name}: ${kilobytes(bytes)}\n`)
const first = pages.find(({ name }) => name.includes('dashboard')) ?? heaviest[0]
if (first === undefined) throw new Error('the entry loads no page: the measure is blind')
if (first.bytes > limit) {
  throw new Error(
    `the first page takes ${kilobytes(first.bytes)} of JavaScript; ${kilobytes(limit)} are allowed`,
  )
}

/** The named chunks and everything they import at once. */
function closure(names: readonly string[], seen = new Set<string>()): Set<string> {
  for (const name of names) {
    if (seen.has(name)) continue
    seen.add(name)
    closure(manifest[name]?.imports ?? [], seen)
  }
  return seen
}

function measure(names: ReadonlySet<string>): number {
  const files = [...names].map((name) => manifest[name]!.file)
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`
}
