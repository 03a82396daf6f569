import { readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

const expected = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'bin/lockstep.js',
  'dist/cli/main.js',
  'dist/console/index.html',
  'dist/console/theme.js',
  'dist/index.d.ts',
  'dist/index.js',
  'examples/refund-desk.yaml',
  'package.json',
  'schema/playbook.json',
  'schema/policy.json',
]

/** Besides the expected files only these may be in the package: compiled modules without tests, and plain data. */
const compiled = /^dist\/(?!.*\.(?:test|suite)\.)[\w/-]+(?:\.js|\.d\.ts)$/
/** The console as it was built. */
const console = /^dist\/console\/(?:icon\.svg|assets\/[\w.-]+\.(?:js|css))$/
const data =
  /^schema\/[\w-]+\.json$|^examples\/(?:runbooks\/|platform\/)?(?:policies\/)?[\w.-]+\.(?:json|yaml|mjs|md)$|^docs\/(?:reference|errors|guide)\/[\w-]+\.md$/

/** Throws when the package lacks a file that it promises or carries one that nobody asked for. */
export function checkPackedFiles(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
  const missing = expected.filter((file) => !files.includes(file))
  const strangers = files.filter(
    (file) => !expected.includes(file) && !compiled.test(file) && !console.test(file) && !data.test(file),
  )
  if (missing.length > 0) throw new Error(`missing from the package: ${missing.join(', ')}`)
  if (strangers.length > 0) throw new Error(`not meant for the package: ${strangers.join(', ')}`)
}
