import { compileTemplate } from '../expression/compile-template.ts'
import type { Config } from './config.ts'

/** The names of the tools whose arguments choose the program that is run: such a tool can do anything a program can. */
export function dispatchersOf(config: Config): readonly string[] {
  return config.exec
    .filter(({ command: [program = ''] }) => {
      const { template } = compileTemplate(program, { names: ['args', 'inputs'] })
      return template === null || template.parts.some((part) => typeof part !== 'string')
    })
    .map(({ name }) => name)
}
