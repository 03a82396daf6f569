/** What a user writes first; it is run, and type-checked against the published types. */
export const consumerProgram = `
import { loadPlaybook, PlaybookEnforcer, type EnforcementResult } from 'lockstep'
const playbook = await loadPlaybook({ id: 'greet', name: 'Greet', steps: [{ id: 'look', description: 'Look.', expected_tools: ['look'] }] })
const result: EnforcementResult = PlaybookEnforcer.fromPlaybook(playbook).validateToolCall('leave')
if (result.allowed) throw new Error('a tool that no step names was allowed')
`

/** Serves from the installed package, and looks at the console as a browser first would. */
export const serveProgram = `
import { spawn } from 'node:child_process'
const lockstep = 'node_modules/lockstep/bin/lockstep.js'
const child = spawn(process.execPath, [lockstep, 'serve', '--port', '0', '--log-level', 'silent'], {
  env: { ...process.env, LOCKSTEP_HOME: 'served' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let said = ''
const hangs = setTimeout(() => (child.kill('SIGKILL'), console.error('it serves nothing: ' + said)), 120_000)
for await (const chunk of child.stdout) {
  said += chunk
  const url = /http:\\/\\/[\\w.]+:\\d+/.exec(said)?.[0]
  if (url === undefined || !said.includes('#token=')) continue
  const page = await (await fetch(url + '/')).text()
  const script = /src="(\\/console\\/assets\\/[^"]+)"/.exec(page)?.[1]
  const answer = await fetch(url + script)
  if (!answer.ok) throw new Error('the console has no script: ' + page)
  if (!(await fetch(url + '/healthz')).ok) throw new Error('the gateway is not healthy')
  break
}
clearTimeout(hangs)
child.kill('SIGINT')
`

/** A strict project that sees only the package's own types; the declarations of its dependencies are theirs to keep right. */
export function consumerConfig(moduleResolution: 'nodenext' | 'bundler') {
  return {
    compilerOptions: {
      target: 'es2024',
      lib: ['es2024', 'dom'],
      module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
      moduleResolution,
      strict: true,
      skipLibCheck: true,
      exactOptionalPropertyTypes: true,
      types: [],
      noEmit: true,
    },
    files: ['consumer.ts'],
  }
}
