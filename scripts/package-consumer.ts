/** What a user writes first; it is run, and type-checked against the published types. */
export const consumerProgram = `
import { loadPlaybook, PlaybookEnforcer, type EnforcementResult } from 'lockstep'
const playbook = await loadPlaybook({ id: 'greet', name: 'Greet', steps: [{ id: 'look', description: 'Look.', expected_tools: ['look'] }] })
const result: EnforcementResult = PlaybookEnforcer.fromPlaybook(playbook).validateToolCall('leave')
if (result.allowed) throw new Error('a tool that no step names was allowed')
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
