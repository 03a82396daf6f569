import type { Packages } from './check-architecture.ts'
import type { FolderRules } from './folder-rules.ts'
import type { Link } from './link-modules.ts'
import { backendOf, folderOf, isTest } from './source-tree.ts'
import type { Violation } from './violation.ts'

type Finding = Pick<Violation, 'rule' | 'message'>

/** Every import leads where the table lets its folder go; type-only imports count like any other. */
export function checkImports(links: readonly Link[], rules: FolderRules, packages: Packages): Violation[] {
  return links.flatMap((link) =>
    findings(link, rules, packages).map((finding) => ({ ...finding, file: link.from, line: link.line })),
  )
}

function findings({ from, to }: Link, rules: FolderRules, packages: Packages): Finding[] {
  switch (to.kind) {
    case 'file':
      return [...folderFindings(from, to.file, rules), ...backendFindings(from, to.file, rules)]
    case 'missing':
      return [{ rule: 'unresolved', message: `${to.file} does not exist` }]
    case 'outside':
      return [{ rule: 'leaves-src', message: `${to.path} lies outside src and is not in the package` }]
    case 'computed':
      return isTest(from) || rules.computedImports.includes(folderOf(from))
        ? []
        : [{ rule: 'computed-import', message: 'the name of the imported module is not written out' }]
    case 'package': {
      const declared = [...packages.production, ...(isTest(from) ? packages.development : [])]
      return declared.includes(to.name)
        ? []
        : [{ rule: 'package', message: `${to.name} is not a package this file may rely on` }]
    }
    case 'platform':
      return []
  }
}

function folderFindings(from: string, file: string, rules: FolderRules): Finding[] {
  if (isTest(from)) return []
  if (isTest(file)) return [{ rule: 'test-import', message: `${file} is a test` }]
  const [here, there] = [folderOf(from), folderOf(file)]
  const allowed = rules.mayImport[here] ?? []
  if (allowed === 'anything' || here === there || there === 'shared' || allowed.includes(there)) return []
  return [{ rule: 'folder', message: `${here} may not import ${there}` }]
}

function backendFindings(from: string, file: string, rules: FolderRules): Finding[] {
  const [here, there] = [backendOf(from, rules.backends), backendOf(file, rules.backends)]
  if (there === null || here === there || isTest(from)) return []
  if (rules.assemblers.includes(folderOf(from))) return []
  return [{ rule: 'backend', message: `${here ?? folderOf(from)} may not know the implementation ${there}` }]
}
