import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import { compileExpression, type ExpressionReference } from '../expression/compile-expression.ts'
import { compileTemplate } from '../expression/compile-template.ts'
import type { ExpressionError } from '../expression/expression-error.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { type Json, isJsonObject } from '../shared/json.ts'
import { nearestName } from '../shared/nearest-name.ts'
import type { ConfigWording } from './config-wording.ts'

/** What the placeholders of a call may name. */
export const callNames = ['args', 'inputs', 'key'] as const

/** What placeholders and conditions may name in one place, and the schema of the arguments, if there is one. */
export interface TemplateScope {
  readonly names: readonly string[]
  readonly input: JsonSchema | undefined
}

/** Checks the texts of a configuration that hold placeholders, and its conditions. */
export class ConfigTemplates {
  readonly #report: Report
  readonly #wording: ConfigWording

  constructor(report: Report, wording: ConfigWording) {
    this.#report = report
    this.#wording = wording
  }

  /** Every text in a JSON value is a template. */
  json(value: Json, path: DocumentPath, scope: TemplateScope): void {
    if (typeof value === 'string') {
      // Only headers and variables hold references; here one would be sent as it stands.
      if (/^(?:env|file|exec):|^store:[\w.-]+$/.test(value)) {
        this.#report('value_not_allowed', path, `${this.#wording.place(path)} cannot refer to a secret`, {
          suggestion: 'put the secret into a header or a variable',
        })
      }
      this.template(value, path, scope)
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => this.json(item, [...path, index], scope))
    } else if (isJsonObject(value)) {
      for (const [key, item] of Object.entries(value)) this.json(item, [...path, key], scope)
    }
  }

  /** A text with placeholders. */
  template(text: string, path: DocumentPath, { names, input }: TemplateScope): void {
    const { template, errors } = compileTemplate(text, { names })
    this.#errors(errors, path)
    if (template !== null) this.#arguments(template.references, path, input)
  }

  /** A condition. */
  condition(text: string | undefined, path: DocumentPath, { names, input }: TemplateScope): void {
    if (text === undefined) return
    const { expression, errors } = compileExpression(text, { profile: 'condition', names })
    this.#errors(errors, path)
    if (expression !== null) this.#arguments(expression.references, path, input)
  }

  #errors(errors: readonly ExpressionError[], path: DocumentPath): void {
    const place = this.#wording.place(path)
    for (const { message, start, end } of errors)
      this.#report('invalid_expression', path, `${place}: ${message}`, { range: { start, end } })
  }

  /** Where the schema names its properties, no other argument can be meant. */
  #arguments(
    references: readonly ExpressionReference[],
    path: DocumentPath,
    input: JsonSchema | undefined,
  ): void {
    const properties = typeof input === 'object' ? input['properties'] : undefined
    if (!isJsonObject(properties)) return
    for (const { name, path: members, start, end } of references) {
      const [member] = members
      if (name !== 'args' || member === undefined || Object.hasOwn(properties, member)) continue
      const nearest = nearestName(member, Object.keys(properties))
      const message = `${this.#wording.place(path)}: the \`input\` has no \`${member}\``
      this.#report('invalid_expression', path, message, {
        range: { start, end },
        suggestion: nearest === null ? null : `did you mean \`${nearest}\`?`,
      })
    }
  }
}
