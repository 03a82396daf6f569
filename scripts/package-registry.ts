/**
 * A registry on this machine that has the given tarballs and nothing else, so that an install can be tried without the
 * network. It runs as a thread, for the commands that use it are waited for.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parentPort, Worker, workerData } from 'node:worker_threads'

/** One tarball, with what its `package.json` says. */
export type PackedPackage = {
  readonly name: string
  readonly version: string
  readonly filename: string
  readonly integrity: string
  readonly manifest: Readonly<Record<string, unknown>>
}

/** Starts the registry; `stop` ends it. It answers on loopback only, and with 404 for any other package. */
export async function openRegistry(folder: string, packages: readonly PackedPackage[]) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { folder, packages } })
  const url = await new Promise<string>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return { url, stop: () => worker.terminate() }
}

function serve(folder: string, packages: readonly PackedPackage[]): void {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    const file = packages.find(({ filename }) => path === `-/${filename}`)
    if (file !== undefined) return void response.end(readFileSync(join(folder, file.filename)))
    const versions = packages.filter(({ name }) => name === path)
    if (versions.length === 0) return void response.writeHead(404).end('{}')
    const origin = `http://${request.headers.host}`
    response.end(JSON.stringify(describePackage(origin, versions)))
  })
  server.listen(0, '127.0.0.1', () => {
    // The other end is a thread of this program, not a window.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })
}

function describePackage(origin: string, versions: readonly PackedPackage[]): object {
  const described = versions.map(({ name, version, filename, integrity, manifest }) => {
    const dist = { tarball: `${origin}/-/${filename}`, integrity }
    return [version, { ...manifest, name, version, dist }]
  })
  const latest = versions.at(-1)
  return {
    name: latest?.name,
    'dist-tags': { latest: latest?.version },
    versions: Object.fromEntries(described),
  }
}

if (parentPort !== null) serve(workerData.folder, workerData.packages)
