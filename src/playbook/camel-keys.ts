/**
 * The spelling of keys: files say `expected_tools`, TypeScript says `expectedTools`. Both directions follow the
 * schema, so keys that a user made up (metadata, inputs, tool names, JSON Schemas) are never touched.
 */
import type { z } from 'zod'
import type { Json } from '../shared/json.ts'

type Camel<K> = K extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : K

/** The TypeScript spelling of a file type: camelCase keys, read-only; maps with made-up keys keep theirs. */
export type CamelKeys<T> = [Json] extends [T]
  ? T
  : T extends readonly (infer Item)[]
    ? readonly CamelKeys<Item>[]
    : T extends object
      ? string extends keyof T
        ? { readonly [K in keyof T]: CamelKeys<T[K]> }
        : { readonly [K in keyof T as Camel<K>]: CamelKeys<T[K]> }
      : T

/** The camelCase spelling of a snake_case key. */
export function camelKey(key: string): string {
  return key.replace(/(?<=[a-z0-9])_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The snake_case spelling of a camelCase key. */
export function snakeKey(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** What a schema says beneath defaults, optionality, null and laziness. */
export function schemaDefinition(schema: z.core.$ZodType): z.core.$ZodTypes['_zod']['def'] {
  // oxlint-disable-next-line no-underscore-dangle -- zod's documented place for reading a schema
  const definition = (schema as z.core.$ZodTypes)._zod.def
  switch (definition.type) {
    case 'default':
    case 'optional':
    case 'nullable':
      return schemaDefinition(definition.innerType)
    case 'lazy':
      return schemaDefinition(definition.getter())
    default:
      return definition
  }
}
