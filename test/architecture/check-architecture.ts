import { checkFileNames } from './check-file-names.ts'
import { checkFolderCycles } from './check-folder-cycles.ts'
import { checkImports } from './check-imports.ts'
import { checkPurity } from './check-purity.ts'
import type { FolderRules } from './folder-rules.ts'
import { parseModule } from './parse-module.ts'
import { linkModules } from './link-modules.ts'
import type { SourceTree } from './source-tree.ts'
import type { Violation } from './violation.ts'

/** The npm packages that package.json declares. */
export type Packages = { readonly production: readonly string[]; readonly development: readonly string[] }

/** Every breach of the rules in the tree. A tree in which it sees no code, or no import at all, is a breach too. */
export function checkArchitecture(tree: SourceTree, rules: FolderRules, packages: Packages): Violation[] {
  const nameViolations = checkFileNames(tree, rules)
  const modules = new Map(
    [...tree].filter(([file]) => file.endsWith('.ts')).map(([file, text]) => [file, parseModule(file, text)]),
  )
  const unreadable = [...modules].flatMap(([file, module]) =>
    module.errors.map((error): Violation => ({ rule: 'unreadable', file, line: 1, message: error })),
  )
  const links = linkModules(modules)
  if (links.length === 0) {
    const message = 'no import seen in any file: the check is blind'
    return [...nameViolations, ...unreadable, { rule: 'no-code', file: '.', line: 0, message }]
  }
  return [
    ...nameViolations,
    ...unreadable,
    ...checkImports(links, rules, packages),
    ...checkFolderCycles(links),
    ...checkPurity(modules, links, rules),
    ...checkIndexFiles(modules),
  ]
}

function checkIndexFiles(modules: ReadonlyMap<string, { beyondReexports: readonly number[] }>): Violation[] {
  const message = 'an index.ts only re-exports, by name'
  return [...modules]
    .filter(([file]) => file === 'index.ts' || file.endsWith('/index.ts'))
    .flatMap(([file, module]) =>
      module.beyondReexports.map((line): Violation => ({ rule: 'index', file, line, message })),
    )
}
