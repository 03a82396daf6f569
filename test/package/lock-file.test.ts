import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

type LockedPackage = {
  version?: string
  resolved?: string
  link?: boolean
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const lockText = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
const packages: Record<string, LockedPackage> = JSON.parse(lockText).packages
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Where npm looks for a package that the one at `from` asks for: nested first, then outwards to the root. */
function lockedAt(from: string, name: string): LockedPackage | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
    const found = packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`]
    if (found !== undefined || place === '') return found
  }
}

test('the lock file names no host to download from', () => {
  const hosts = Object.entries(packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && link !== true,
  )
  expect(hosts.map(([path]) => path)).toEqual([])
})

test('the lock file pins every package', () => {
  const open = Object.entries(packages).filter(
    ([, { version, link }]) => version === undefined && link !== true,
  )
  expect(open.map(([path]) => path)).toEqual([])
  expect(Object.keys(packages).length).toBeGreaterThan(50)
})

test('every dependency with an install script is named in allowScripts', () => {
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true)
  const names = withScript.map(([path]) =>
    path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  )
  expect(names).toContain('node')
  expect(names.filter((name) => manifest.allowScripts[name] !== true)).toEqual([])
})

test('every build for another platform that a package asks for is locked too', () => {
  const asked = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies).map(([name, range]) => ({ from, name, range })),
  )
  expect(asked.length).toBeGreaterThan(20)
  const missing = asked.filter(({ from, name, range }) => {
    const found = lockedAt(from, name)
    return found === undefined || (/^\d/.test(range) && found.version !== range)
  })
  expect(missing).toEqual([])
})

test('package.json and the lock file ask for the same packages', () => {
  expect(packages['']?.dependencies).toEqual(manifest.dependencies)
  expect(packages['']?.devDependencies).toEqual(manifest.devDependencies)
})
