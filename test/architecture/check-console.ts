import { posix } from 'node:path'
import type { Packages } from './check-architecture.ts'
import { parseModule } from './parse-module.ts'
import { isTest, type SourceTree } from './source-tree.ts'
import type { Violation } from './violation.ts'

/** What the console may use of `src`: the contract, the client, and the pure core that checks a text as it is typed. */
export const consoleMayImport = [
  'api',
  'client',
  'document',
  'expression',
  'playbook',
  'policy',
  'shared',
] as const

/**
 * Every import of the console leads to itself, to what it may use of `src`, or to a package that is declared. The keys of
 * the tree are paths below `console/src`. A tree without code, or without an import, is a breach too.
 */
export function checkConsole(tree: SourceTree, packages: Packages): Violation[] {
  const code = [...tree].filter(([file]) => /\.tsx?$/.test(file))
  const imports = code.flatMap(([file, text]) => {
    const { errors, imports: found } = parseModule(file, text)
    const unreadable = errors.map((message): Violation => ({ rule: 'unreadable', file, line: 1, message }))
    return [{ file, found, unreadable }]
  })
  const names = code.flatMap(([file]) => checkName(file))
  if (imports.every(({ found }) => found.length === 0))
    return [
      { rule: 'no-code', file: '.', line: 0, message: 'no import seen in any file: the check is blind' },
    ]
  return [
    ...names,
    ...imports.flatMap(({ file, found, unreadable }) => [
      ...unreadable,
      ...found.flatMap(({ specifier, line }) => checkImport(file, specifier, line, tree, packages)),
    ]),
  ]
}

function checkName(file: string): Violation[] {
  const name = posix.basename(file).replace(/(?:\.test)?\.tsx?$/, '')
  if (/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) return []
  return [{ rule: 'file-name', file, line: 1, message: `${name} is not kebab-case` }]
}

function checkImport(
  file: string,
  specifier: string | null,
  line: number,
  tree: SourceTree,
  packages: Packages,
): Violation[] {
  const found = (rule: Violation['rule'], message: string): Violation[] => [{ rule, file, line, message }]
  if (specifier === null)
    return found('computed-import', 'the name of the imported module is not written out')
  if (!specifier.startsWith('.')) {
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
    const declared = [...packages.production, ...packages.development].includes(name)
    return declared || (isTest(file) && specifier.startsWith('node:'))
      ? []
      : found('package', `${name} is not a package the console may rely on`)
  }
  const path = posix.join(posix.dirname(file), specifier)
  if (!path.startsWith('../')) return tree.has(path) ? [] : found('unresolved', `${path} does not exist`)
  const [, , root, folder = ''] = path.split('/')
  const allowed =
    path.startsWith('../../src/') && root === 'src' && consoleMayImport.some((each) => each === folder)
  return allowed || isTest(file) ? [] : found('folder', `the console may not import ${path}`)
}
