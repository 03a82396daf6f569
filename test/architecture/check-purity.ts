import type { FolderRules } from './folder-rules.ts'
import type { Link } from './link-modules.ts'
import type { Module } from './parse-module.ts'
import { folderOf, isTest } from './source-tree.ts'
import type { Violation } from './violation.ts'

/**
 * The pure core, and every file it reaches by any import, touches no platform, clock, timer, randomness or locale,
 * and no package beyond its folder's allow-list.
 */
export function checkPurity(
  modules: ReadonlyMap<string, Module>,
  links: readonly Link[],
  rules: FolderRules,
): Violation[] {
  const linksOf = Map.groupBy(links, (link) => link.from)
  const core = [...modules.keys()].filter((file) => rules.pure.includes(folderOf(file)) && !isTest(file))
  const reachedFrom = new Map(core.map((file) => [file, '']))
  const violations: Violation[] = []
  // A Map lists what is added while it is being walked, so this loop follows imports to their end.
  for (const [file, origin] of reachedFrom) {
    const report = (rule: 'impure' | 'package', line: number, what: string) =>
      violations.push({ rule, file, line, message: `${what} in the pure core${origin}` })
    for (const { name, line } of modules.get(file)?.impurities ?? []) report('impure', line, name)
    for (const { to, line } of linksOf.get(file) ?? []) {
      if (to.kind === 'platform') report('impure', line, to.name)
      if (to.kind === 'computed') report('impure', line, 'an import of an unknown module')
      if (to.kind === 'package' && !packagesOf(file, rules).includes(to.name))
        report('package', line, to.name)
      if (to.kind === 'file' && !reachedFrom.has(to.file)) {
        reachedFrom.set(to.file, `, reached from ${file}`)
      }
    }
  }
  return violations
}

function packagesOf(file: string, rules: FolderRules): readonly string[] {
  return rules.packages[folderOf(file)] ?? []
}
