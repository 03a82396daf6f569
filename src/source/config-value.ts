import { isAbsolute, resolve } from 'node:path'
import type { ConfigValue } from './config.ts'
import { isSecretName } from './secret-name.ts'

/** What a text of a configuration was read as, or why it is neither text nor a secret. */
export type ReadConfigValue =
  | { readonly value: ConfigValue; readonly problem: null }
  | { readonly value: null; readonly problem: string }

const pattern = /^(?:([A-Za-z][A-Za-z0-9_-]*) )?(env|file|exec|store):(.*)$/s

/**
 * Reads the value of a header or a variable. `env:NAME`, `file:PATH`, `store:NAME` and the list `[exec:PROGRAM, ARGUMENT, …]` are references to
 * secrets, alone or after one word (`Bearer env:TOKEN`); everything else is text.
 */
export function readConfigValue(given: string | readonly string[], folder: string): ReadConfigValue {
  const [first = '', ...rest] = typeof given === 'string' ? [given] : given
  const match = pattern.exec(first)
  if (match === null) {
    if (typeof given !== 'string') return refuse('must be a string, or a list that begins with exec:PROGRAM')
    return { value: { kind: 'text', text: given }, problem: null }
  }
  const [, word, from, subject = ''] = match
  const prefix = word === undefined ? '' : `${word} `
  if ([subject, ...rest].some((part) => /[{}]/.test(part)))
    return refuse('refers to a secret, and such a reference holds no placeholder')
  if (typeof given !== 'string' && from !== 'exec') return refuse(`must be a string: ${from}:…`)
  switch (from) {
    case 'env':
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(subject)) return refuse('must name a variable: env:NAME')
      return { value: { kind: 'secret', prefix, reference: { from, name: subject } }, problem: null }
    case 'file':
      if (subject === '') return refuse('must name a file: file:PATH')
      return {
        value: { kind: 'secret', prefix, reference: { from, path: resolve(folder, subject) } },
        problem: null,
      }
    case 'store':
      if (!isSecretName(subject)) return refuse('must name a secret of the store: store:NAME')
      return { value: { kind: 'secret', prefix, reference: { from, name: subject } }, problem: null }
    default: {
      if (subject === '' || /\s/.test(subject))
        return refuse('must be a list, one element an argument: [exec:PROGRAM, ARGUMENT, …]')
      const command = [programPath(subject, folder), ...rest]
      return {
        value: { kind: 'secret', prefix, reference: { from: 'exec', command, cwd: folder } },
        problem: null,
      }
    }
  }
}

/** A program by its name is looked for in PATH; one by its path is found from the folder of the configuration. */
function programPath(program: string, folder: string): string {
  return program.includes('/') && !isAbsolute(program) ? resolve(folder, program) : program
}

function refuse(problem: string): ReadConfigValue {
  return { value: null, problem }
}
