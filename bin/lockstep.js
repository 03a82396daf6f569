#!/usr/bin/env node
// Plain JavaScript that any Node since 14 can parse: an old Node must reach the sentence below, not a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number)

if (major > 22 || (major === 22 && minor >= 18)) {
  const { existsSync } = await import('node:fs')
  // A checkout runs its sources directly; the published package carries only dist.
  const isCheckout = existsSync(new URL('../src/cli/main.ts', import.meta.url))
  const load = (name) =>
    import(new URL(isCheckout ? `../src/${name}.ts` : `../dist/${name}.js`, import.meta.url).href)
  const { keepCompiled } = await load('source/keep-compiled')
  keepCompiled()
  const { main } = await load('cli/main')
  await main(process.argv.slice(2))
} else {
  process.stderr.write(`lockstep needs Node 22.18 or newer, and this is Node ${process.versions.node}.\n`)
  process.exitCode = 2
}
