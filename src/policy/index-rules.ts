import { compileGlob } from './compile-glob.ts'
import type { PolicyRule } from './policy-rule.ts'
import { remember } from './remember.ts'

/** Finds the rules that may be about a tool, in order: by name where they name it, by pattern where they do not. */
export function indexRules(rules: readonly PolicyRule[]): (tool: string) => readonly PolicyRule[] {
  const byName = new Map<string, number[]>()
  const byPattern: { readonly position: number; readonly fits: (tool: string) => boolean }[] = []
  const always: number[] = []
  for (const [position, { tools }] of rules.entries()) {
    if (tools === null || tools.includes('*')) always.push(position)
    else {
      for (const pattern of new Set(tools)) {
        if (pattern.includes('*')) byPattern.push({ position, fits: compileGlob(pattern) })
        else {
          const positions = byName.get(pattern)
          if (positions === undefined) byName.set(pattern, [position])
          else positions.push(position)
        }
      }
    }
  }
  return remember((tool) => {
    const positions = new Set([
      ...always,
      ...(byName.get(tool) ?? []),
      ...byPattern.filter(({ fits }) => fits(tool)).map(({ position }) => position),
    ])
    return [...positions].sort((a, b) => a - b).map((position) => rules[position]!)
  })
}
