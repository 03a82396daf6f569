import type { Tool } from './tool.ts'

/** Says whether a value is a tool that `tool(...)` made, in this copy of the package or another one. */
export function isTool(value: unknown): value is Tool {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return false
  const { name, execute, checkArguments, risk } = value as Partial<Record<keyof Tool, unknown>>
  return (
    typeof name === 'string' &&
    typeof execute === 'function' &&
    typeof checkArguments === 'function' &&
    (risk === 'read' || risk === 'write' || risk === 'irreversible')
  )
}
