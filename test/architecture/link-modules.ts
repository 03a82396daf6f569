import { posix } from 'node:path'
import type { Module } from './parse-module.ts'

/** Where an import leads. */
export type Target =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'missing'; readonly file: string }
  | { readonly kind: 'outside'; readonly path: string }
  | { readonly kind: 'platform'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'computed' }

/** One import of one file, followed to what it names. */
export type Link = { readonly from: string; readonly line: number; readonly to: Target }

/** Follows every import of every file. */
export function linkModules(modules: ReadonlyMap<string, Module>): Link[] {
  return [...modules].flatMap(([from, module]) =>
    module.imports.map(({ specifier, line }) => ({ from, line, to: follow(from, specifier, modules) })),
  )
}

function follow(from: string, specifier: string | null, modules: ReadonlyMap<string, Module>): Target {
  if (specifier === null) return { kind: 'computed' }
  if (specifier.startsWith('./') || specifier.startsWith('../')) {
    const file = posix.join(posix.dirname(from), specifier)
    if (file.startsWith('../')) return { kind: 'outside', path: file.slice('../'.length) }
    return { kind: modules.has(file) ? 'file' : 'missing', file }
  }
  if (specifier === 'node' || specifier.startsWith('node:')) return { kind: 'platform', name: specifier }
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  return { kind: 'package', name }
}
