import { parseSync } from 'vite'
import { findImpurities, type Impurity } from './find-impurities.ts'
import { lineAt, walk, type Node } from './walk.ts'

/** One mention of another module; `specifier` is null when its name is only known at run time. */
export type ModuleImport = { readonly specifier: string | null; readonly line: number }

/** What the rules need to know of a file. */
export type Module = {
  readonly errors: readonly string[]
  readonly imports: readonly ModuleImport[]
  readonly impurities: readonly Impurity[]
  /** Lines of statements that are not `export { name } from` or `export type { Name } from`. */
  readonly beyondReexports: readonly number[]
}

/**
 * Reads a TypeScript file with the parser that vite brings along, so that comments and strings cannot fool the
 * rules and every spelling of an import is seen, erased ones included.
 */
export function parseModule(file: string, text: string): Module {
  const { program, errors } = parseSync(file, text, {
    lang: file.endsWith('.tsx') ? 'tsx' : 'ts',
    sourceType: 'module',
  })
  const root = program as unknown as Node & { body: Node[] }
  const imports: ModuleImport[] = []
  walk(root, (node) => {
    const source = mentionedModule(node)
    if (source !== undefined) {
      imports.push({ specifier: literalText(source), line: lineAt(text, node.start) })
    }
  })
  for (const directive of text.slice(0, root.body[0]?.start ?? text.length).matchAll(referenceDirective)) {
    imports.push({ specifier: directive[1]!, line: lineAt(text, directive.index) })
  }
  return {
    errors: errors.map((error) => error.message),
    imports,
    impurities: findImpurities(root, text),
    beyondReexports: root.body
      .filter((node) => !isNamedReexport(node))
      .map((node) => lineAt(text, node.start)),
  }
}

const referenceDirective = /^\s*\/\/\/\s*<reference\s+(?:path|types)\s*=\s*['"]([^'"]+)['"]/gm

/** The node that names another module, if this node is any form of import. */
function mentionedModule(node: Node): Node | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node['source'] as Node
    case 'ExportNamedDeclaration':
      return (node['source'] as Node | null) ?? undefined
    case 'TSExternalModuleReference':
      return node['expression'] as Node
    case 'TSModuleDeclaration':
      return (node['id'] as Node).type === 'Literal' ? (node['id'] as Node) : undefined
    case 'CallExpression':
      return requiredModule(node)
    default:
      return undefined
  }
}

/** `require('name')`; with anything but a written-out name it is somebody's own function, for ESM has no such global. */
function requiredModule(node: Node): Node | undefined {
  const [name] = node['arguments'] as Node[]
  if ((node['callee'] as Node)['name'] !== 'require' || name === undefined) return undefined
  return literalText(name) === null ? undefined : name
}

function literalText(node: Node): string | null {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type !== 'TemplateLiteral') return null
  const quasis = node['quasis'] as { value: { cooked: string | null } }[]
  return quasis.length === 1 ? quasis[0]!.value.cooked : null
}

function isNamedReexport(node: Node): boolean {
  return node.type === 'ExportNamedDeclaration' && node['source'] !== null && node['declaration'] === null
}
