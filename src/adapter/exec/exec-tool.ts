/**
 * Tools that run a program.
 *
 * Invariants
 * X1  An argument of a call fills in part of one argument of the program. There is no shell: nothing in it is read as a command.
 * X2  It cannot become an option: what begins an element and starts with "-" is refused, numbers too, whatever stands before it, unless
 *     the author of the tool allows it. A "--" proves nothing: it may belong to a program that starts another one.
 * X3  The program sees the variables that are passed or given, and no others.
 */
import type { Json, JsonObject } from '../../shared/json.ts'
import { ToolFailure } from '../../tool/tool-failure.ts'
import { type Tool, type ToolDefinition, tool } from '../../tool/tool.ts'
import {
  type DeclaredTool,
  type DeclaredValue,
  type Surroundings,
  commonDefinition,
  readText,
  resolveSecret,
} from '../declared-tool.ts'
import { compileFinding, type DeclaredFinding, type Finding } from '../finding.ts'
import { maskTool } from '../masked-tool.ts'
import { readJson } from '../read-json.ts'
import { showReference, type SecretVault } from '../secret-vault.ts'
import {
  type CallValues,
  type ToolTemplate,
  compileJsonTemplate,
  compileToolTemplate,
  fillText,
} from '../tool-template.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'

/** A tool that runs a program. */
export interface ExecToolDeclaration extends DeclaredTool {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, DeclaredValue>>
  readonly passEnv: readonly string[]
  /** Whether an argument of a call may begin with "-" at the start of an element (X2). */
  readonly allowDash: boolean
  /** Undefined gives it nothing to read. */
  readonly stdin: Json | undefined
  readonly output: 'text' | 'json'
  readonly exitCodesWithoutEffect: readonly number[]
  /** A program that says what became of a call; null where there is none. */
  readonly reconcile: (DeclaredFinding & { readonly command: readonly string[] }) | null
}

type FilledVariables = (values: CallValues, secrets: 'resolved' | 'shown') => Promise<Record<string, string>>

/** Makes a tool that runs a program. Throws `invalid_tool` if its placeholders are no expressions. */
export function createExecTool(declared: ExecToolDeclaration, { vault, inputs }: Surroundings): Tool {
  const { name } = declared
  const makeCommand = compileCommand(declared.command, name, declared.allowDash)
  const makeStdin =
    declared.stdin === undefined ? null : compileJsonTemplate(declared.stdin, `The stdin of '${name}'`)
  const makeEnv = compileEnv(declared, vault)
  const prepare = async (args: JsonObject, key: string, secrets: 'resolved' | 'shown') => {
    const values = { args, inputs, key }
    const command = makeCommand(values)
    const read = makeStdin?.(values) ?? null
    const stdin = read === null ? null : typeof read === 'string' ? read : JSON.stringify(read)
    return { command, cwd: declared.cwd, stdin, env: await makeEnv(values, secrets) }
  }
  const made = tool({
    ...commonDefinition(declared, inputs),
    async execute(args, { signal, idempotencyKey }) {
      const program = await prepare(args, idempotencyKey, 'resolved')
      return readEnd(await runProgram(program, declared.maxResultBytes, signal), declared, vault)
    },
    async dryRun(args, { idempotencyKey }) {
      const { command, stdin, env } = await prepare(args, idempotencyKey, 'shown')
      // What is passed on from this process is not the tool's to show.
      const given = Object.keys(declared.env).map((key) => [key, env[key] ?? ''] as const)
      return {
        command,
        ...(stdin === null ? {} : { stdin }),
        ...(given.length === 0 ? {} : { env: Object.fromEntries(given) }),
      }
    },
    ...(declared.reconcile === null
      ? {}
      : { reconcile: compileReconciliation(declared, declared.reconcile, makeEnv, { vault, inputs }) }),
  })
  return maskTool(made, vault)
}

/** Runs the program that says what became of a call: by its exit code, 0 for applied and 1 for not, or by what it prints. */
function compileReconciliation(
  declared: ExecToolDeclaration,
  asked: NonNullable<ExecToolDeclaration['reconcile']>,
  makeEnv: FilledVariables,
  { vault, inputs }: Surroundings,
): NonNullable<ToolDefinition['reconcile']> {
  const makeCommand = compileCommand(asked.command, declared.name, declared.allowDash)
  const finding = compileFinding(asked, declared.name, ['output'])
  const most = declared.maxResultBytes
  return async (key, args, { signal }): Promise<Finding> => {
    const values = { args, inputs, key }
    const env = await makeEnv(values, 'resolved')
    const program = { command: makeCommand(values), cwd: declared.cwd, stdin: null, env }
    const end = await runProgram(program, most, signal)
    const output = end.stdout.length > most ? undefined : readJson(readText(end.stdout, most, vault))
    const answered = { ...values, more: [output] }
    if (asked.applied !== null && end.code === 0) return finding.judge(answered)
    if (asked.applied === null && end.code === 0) return finding.applied(answered)
    if (asked.applied === null && end.code === 1) return { outcome: 'failed' }
    return { outcome: 'unknown', note: `the program that was asked ended with ${end.code ?? end.signal}` }
  }
}

function compileCommand(
  command: readonly string[],
  name: string,
  allowDash: boolean,
): (values: CallValues) => string[] {
  const parts = command.map((part, index) =>
    compileToolTemplate(part, index === 0 ? `The program of '${name}'` : `Argument ${index} of '${name}'`),
  )
  return (values) => parts.map((part) => fillArgument(part, values, allowDash))
}

function fillArgument(template: ToolTemplate, values: CallValues, allowDash: boolean): string {
  const text = noNul(fillText(template, values), template.what)
  const [first] = template.compiled.parts
  if (allowDash || first === undefined || typeof first === 'string' || !text.startsWith('-')) return text
  throw new ToolFailure(
    `${template.what} would be read as an option: it begins with "-". Write it joined (--name={args.x}), or declare allow_dash where no option can do harm`,
  )
}

function compileEnv(declared: ExecToolDeclaration, vault: SecretVault): FilledVariables {
  const variables = Object.entries(declared.env).map(([name, value]) => {
    const what = `The variable ${name} of '${declared.name}'`
    return {
      name,
      value,
      what,
      template: value.kind === 'text' ? compileToolTemplate(value.text, what) : null,
    }
  })
  return async (values, secrets) => {
    const env: Record<string, string> = {}
    for (const name of declared.passEnv) {
      const value = process.env[name]
      if (value !== undefined) env[name] = value
    }
    for (const { name, value, what, template } of variables) {
      if (template !== null) env[name] = noNul(fillText(template, values), what)
      else if (value.kind === 'secret') {
        const secret =
          secrets === 'shown' ? showReference(value.reference) : await resolveSecret(value.reference, vault)
        env[name] = value.prefix + secret
      }
    }
    return env
  }
}

function noNul(text: string, what: string): string {
  if (!text.includes('\0')) return text
  throw new ToolFailure(`${what} cannot be filled in with a NUL character`)
}

function readEnd(end: ProgramEnd, declared: ExecToolDeclaration, vault: SecretVault): Json {
  const text = readText(end.stdout, declared.maxResultBytes, vault)
  if (end.code !== 0) {
    const how = end.code === null ? `was ended by ${end.signal}` : `ended with exit code ${end.code}`
    const said = readText(end.stderr, 2_000, vault).trim() || vault.cutText(text, 2_000, true).trim()
    const message = `the program ${how}${said === '' ? '' : `: ${said}`}`
    const harmless = end.code !== null && declared.exitCodesWithoutEffect.includes(end.code)
    throw harmless ? new ToolFailure(message) : new Error(message)
  }
  if (declared.output === 'text') return text
  const value = readJson(text)
  if (value === undefined)
    throw new Error(`the program did not print JSON: ${vault.cutText(text, 200, true)}`)
  return value
}
