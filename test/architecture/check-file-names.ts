import type { FolderRules } from './folder-rules.ts'
import { folderOf, isTest, type SourceTree } from './source-tree.ts'
import type { Violation } from './violation.ts'

/** Names that say nothing, and so collect everything. */
const emptyWords = [
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'type',
  'types',
  'misc',
  'manager',
  'managers',
]

/** Every folder is one the rules know, every file is TypeScript, kebab-case, and named after what it holds. */
export function checkFileNames(tree: SourceTree, rules: FolderRules): Violation[] {
  return [...tree.keys()].flatMap((file) => {
    const violations: Violation[] = []
    const report = (rule: 'unknown-folder' | 'file-name', message: string) =>
      violations.push({ rule, file, line: 1, message })
    if (!Object.hasOwn(rules.mayImport, folderOf(file))) {
      report('unknown-folder', `${folderOf(file)} is not in the table of folders`)
    }
    if (!file.endsWith('.ts') || file.endsWith('.d.ts')) {
      report('file-name', 'only .ts files reach the package')
      return violations
    }
    // A test may add which side of its subject it is about: `admit-call.limits.test.ts`.
    const names = isTest(file) ? file.replace(/\.\w+\.ts$/, '').split(/[/.]/) : file.slice(0, -3).split('/')
    for (const name of names) {
      if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) report('file-name', `${name} is not kebab-case`)
      if (isEmptyName(name)) report('file-name', `${name} does not say what it holds`)
    }
    return violations
  })
}

function isEmptyName(name: string): boolean {
  const lastWord = name.slice(name.lastIndexOf('-') + 1)
  return emptyWords.includes(name) || (lastWord !== 'type' && emptyWords.includes(lastWord))
}
