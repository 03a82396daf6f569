import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A browser to test with: how it is started, or why there is none. */
export type FoundChromium =
  | { readonly path: string; readonly env: Readonly<Record<string, string>> }
  | { readonly missing: string }

const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))
const packed = fileURLToPath(new URL('../../node_modules/@sparticuz/chromium', import.meta.url))

/**
 * The browser that the packages bring, unpacked once into the cache of this checkout. It is built for Linux on x64; elsewhere,
 * and where it cannot start, the reason is told. `LOCKSTEP_CHROMIUM` names another one.
 */
export async function findChromium(): Promise<FoundChromium> {
  const own = process.env['LOCKSTEP_CHROMIUM']
  if (own !== undefined && own !== '') return startable(own, [{}])
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return {
      missing: `no browser for ${process.platform} on ${process.arch}; LOCKSTEP_CHROMIUM may name one`,
    }
  const folder = await unpack()
  const fonts = { FONTCONFIG_PATH: join(folder, 'fonts') }
  // Most machines have what a browser needs of NSS; the package brings it for the others.
  return startable(join(folder, 'chromium'), [
    fonts,
    { ...fonts, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') },
  ])
}

function startable(path: string, tries: readonly Readonly<Record<string, string>>[]): FoundChromium {
  let said = ''
  for (const env of tries) {
    const { status, stderr, error } = spawnSync(path, ['--version'], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    if (status === 0) return { path, env }
    said = error?.message ?? stderr.trim()
  }
  return { missing: `the browser does not start: ${said}` }
}

/** Unpacks beside the place where it belongs and moves it there as a whole, so that a run that is cut off leaves no half of it. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as { version: string }
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const staging = mkdtempSync(join(cache, 'chromium-unpacking-'))
  const { TMPDIR } = process.env
  // The package unpacks into the folder for temporary files, wherever that is.
  process.env['TMPDIR'] = staging
  try {
    const { inflate } = await import('@sparticuz/chromium')
    for (const name of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br', 'swiftshader.tar.br'])
      await inflate(join(packed, 'bin', name))
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = TMPDIR
  }
  const config = join(staging, 'fonts', 'fonts.conf')
  writeFileSync(
    config,
    readFileSync(config, 'utf8')
      .replaceAll('/tmp/', `${folder}/`)
      .replace('/var/task/.fonts', '/usr/share/fonts'),
  )
  try {
    renameSync(staging, folder)
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    // Another run was faster.
    if (!existsSync(folder)) throw error
  }
  return folder
}
