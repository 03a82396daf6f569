import type { DocumentPath } from '../document/diagnostic.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { compileJsonSchema, type CompiledJsonSchema, findSchemaProblems } from '../shared/json-schema.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { placeholdersIn } from './placeholders-in.ts'
import type { PlaybookDraft, StepDraft } from './playbook-draft.ts'
import { withHandles } from './secret-reference.ts'

/** Reports calls that do not fit the tools they call, as far as these are known: arguments, checks that change something, undoing what only reads. */
export function checkCallTools(context: CheckContext): void {
  if (context.facts.size === 0) return
  const schemas: Schemas = new Map()
  for (const step of context.draft.steps) {
    if (step.tool === null || step.broken('tool')) continue
    const { tool, verify, compensate } = step
    if (!step.broken('input')) checkArguments(tool, step.input, stepPath(step, 'input'), context, schemas)
    if (verify !== null && !step.broken('verify')) {
      checkArguments(verify.tool, verify.input, stepPath(step, 'verify', 'input'), context, schemas)
      checkReads(step, verify.tool, context)
    }
    if (compensate !== null && !step.broken('compensate')) {
      checkArguments(
        compensate.tool,
        compensate.input,
        stepPath(step, 'compensate', 'input'),
        context,
        schemas,
      )
      checkUndone(step, tool, context)
    }
  }
}

function checkReads(step: StepDraft, tool: string, { facts, report, wording }: CheckContext): void {
  const declared = facts.get(tool)?.risk
  // Undeclared counts as irreversible; of a tool whose name alone is known nothing is said.
  const risk = declared === undefined ? 'read' : (declared ?? 'irreversible')
  if (risk === 'read') return
  const path = stepPath(step, 'verify', 'tool')
  const message = `${wording.place(path)} is \`${tool}\`, whose risk is ${risk}: looking must change nothing`
  report('not_read_only', path, message, { suggestion: 'use a tool whose risk is read' })
}

function checkUndone(step: StepDraft, tool: string, { facts, report, wording }: CheckContext): void {
  if (facts.get(tool)?.risk !== 'read') return
  const path = stepPath(step, 'compensate')
  const message = `${wording.place(path)} undoes a call of \`${tool}\`, which only reads`
  report('no_effect', path, message, { severity: 'warning', at: 'key', suggestion: 'remove it' })
}

type Schemas = Map<string, CompiledJsonSchema | null>

/** What is written down can be judged before the run: names of arguments, and values without placeholders. */
function checkArguments(
  tool: string,
  input: JsonObject,
  path: DocumentPath,
  { draft, facts, report, wording, didYouMean }: CheckContext,
  schemas: Schemas,
): void {
  const schema = facts.get(tool)?.input
  if (schema === undefined || schema === null || typeof schema === 'boolean') return
  const properties = isJsonObject(schema['properties'] ?? null) ? (schema['properties'] as JsonObject) : {}
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly Json[]) : []
  for (const name of required) {
    if (typeof name !== 'string' || Object.hasOwn(input, name)) continue
    report('wrong_arguments', path, `${wording.place(path)} lacks \`${name}\`, which \`${tool}\` needs`)
  }
  const closed = schema['additionalProperties'] === false && schema['patternProperties'] === undefined
  for (const [name, given] of Object.entries(input)) {
    const at = [...path, name]
    const value = withHandles(given)
    if (!Object.hasOwn(properties, name)) {
      if (!closed) continue
      const message = `\`${tool}\` takes no argument \`${name}\``
      report('wrong_arguments', at, message, { at: 'key', ...didYouMean(name, Object.keys(properties)) })
      continue
    }
    if (placeholdersIn(value).length > 0) {
      const problem = inputMisfit(value, properties[name]!, draft)
      if (problem !== null) report('wrong_arguments', at, `\`${name}\` of \`${tool}\` ${problem}`)
      continue
    }
    const compiled = schemaOf(tool, name, schema, properties[name]!, schemas)
    for (const misfit of compiled?.check({ [name]: plain(value) }) ?? []) {
      const message = `the arguments of \`${tool}\` do not fit: ${misfit}`
      const handles = value !== given
      report('wrong_arguments', at, message, {
        suggestion: handles
          ? 'a call is judged with the handle secret://NAME in the place of a secret'
          : null,
      })
    }
  }
}

/** Why an input of the run cannot be the argument, by what both are declared as; null where they may fit. */
function inputMisfit(value: Json, argument: Json, { inputs, broken }: PlaybookDraft): string | null {
  const name = typeof value === 'string' ? /^\{\s*inputs\.([A-Za-z_]\w*)\s*\}$/.exec(value)?.[1] : undefined
  if (name === undefined || broken('inputs') || !Object.hasOwn(inputs, name)) return null
  const declared = inputs[name]!
  const given = typeof declared === 'string' ? declared : declared.type
  const wanted = isJsonObject(argument) ? argument['type'] : undefined
  const types = typeof wanted === 'string' ? [wanted] : Array.isArray(wanted) ? wanted : []
  if (given === 'any' || types.length === 0 || types.includes(given)) return null
  // A number may happen to be a whole one.
  if (isNumeric(given) && types.some(isNumeric)) return null
  return `must be ${types.join(' or ')}, and \`inputs.${name}\` is declared as ${given}`
}

function isNumeric(type: Json): boolean {
  return type === 'number' || type === 'integer'
}

/** The schema of one argument, with the definitions it may refer to; null where it cannot be used. */
function schemaOf(
  tool: string,
  name: string,
  { $defs, definitions }: JsonObject,
  argument: Json,
  schemas: Schemas,
): CompiledJsonSchema | null {
  const key = JSON.stringify([tool, name])
  const known = schemas.get(key)
  if (known !== undefined) return known
  const schema = {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
    properties: { [name]: argument },
  }
  const compiled = findSchemaProblems(schema).length > 0 ? null : compileJsonSchema(schema)
  schemas.set(key, compiled)
  return compiled
}

/** The value as it is sent: braces that were written twice stand once. */
function plain(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('{{', '{').replaceAll('}}', '}')
  if (Array.isArray(value)) return value.map(plain)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}
