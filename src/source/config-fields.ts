import type { DocumentPath } from '../document/diagnostic.ts'
import type { Report } from '../document/problem.ts'
import type { ConfigValue } from './config.ts'
import type { ConfigTemplates, TemplateScope } from './config-template.ts'
import { readConfigValue } from './config-value.ts'
import type { ConfigWording } from './config-wording.ts'

type GivenValues = Readonly<Record<string, string | readonly string[]>>

/** The headers that carry secrets, and never as plain text of a configuration. */
const secretHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
])
/** The headers that belong to the connection. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
])

/** Checks the fields of tools and servers that reach outside: addresses, headers, variables and folders. */
export class ConfigFields {
  readonly #report: Report
  readonly #wording: ConfigWording
  readonly #folder: string
  readonly #templates: ConfigTemplates

  constructor(report: Report, wording: ConfigWording, folder: string, templates: ConfigTemplates) {
    this.#report = report
    this.#wording = wording
    this.#folder = folder
    this.#templates = templates
  }

  /** A folder is the operator's choice: it holds no placeholder. */
  plain(text: string | undefined, path: DocumentPath): void {
    if (text !== undefined && /[{}]/.test(text))
      this.#report('value_not_allowed', path, `${this.#wording.place(path)} can hold no placeholder`)
  }

  /** The host stands in the text itself; what an argument may fill in comes after it. */
  url(url: string, path: DocumentPath, scope: TemplateScope): void {
    this.#templates.template(url, path, scope)
    const origin = /^https?:\/\/[^/?#\\@{}\s]+(?=[/?]|$)/.exec(url)
    if (origin === null || !URL.canParse(origin[0])) {
      this.#report(
        'value_not_allowed',
        path,
        `${this.#wording.place(path)} must begin with http:// or https:// and a host, without placeholders, user or password`,
        { suggestion: 'placeholders may stand in the path and the query' },
      )
    } else if (url.replaceAll(/\{[^{}]*\}/g, '').includes('#')) {
      this.#report(
        'value_not_allowed',
        path,
        `${this.#wording.place(path)} has a fragment (#), which is never sent`,
      )
    }
  }

  headers(given: GivenValues, path: DocumentPath, scope: TemplateScope | null): Record<string, ConfigValue> {
    for (const [name, value] of Object.entries(given)) {
      const at = [...path, name]
      this.headerName(name, at, 'key')
      const literal = typeof value === 'string' && !/\{|(?:^|\s)(?:env|file|store):/.test(value)
      if (secretHeaders.has(name.toLowerCase()) && literal) {
        this.#report('value_not_allowed', at, `\`${name}\` holds a secret in plain text`, {
          suggestion:
            'refer to it: `Bearer env:NAME`, `file:PATH`, `store:NAME` or `[exec:PROGRAM, ARGUMENT]`',
        })
      }
    }
    return this.#values(given, path, scope)
  }

  headerName(name: string, path: DocumentPath, at: 'key' | 'value'): void {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      this.#report('invalid_name', path, `\`${name}\` is no name of a header`, { at })
    if (ownHeaders.has(name.toLowerCase()))
      this.#report('value_not_allowed', path, `the header \`${name}\` cannot be set`, { at })
  }

  variables(
    given: GivenValues,
    path: DocumentPath,
    scope: TemplateScope | null,
  ): Record<string, ConfigValue> {
    for (const name of Object.keys(given)) this.variable(name, [...path, name], 'key')
    return this.#values(given, path, scope)
  }

  variable(name: string, path: DocumentPath, at: 'key' | 'value'): void {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      this.#report('invalid_name', path, `\`${name}\` is no name of a variable`, { at })
  }

  #values(given: GivenValues, path: DocumentPath, scope: TemplateScope | null): Record<string, ConfigValue> {
    const values: Record<string, ConfigValue> = {}
    for (const [name, text] of Object.entries(given)) {
      const { value, problem } = readConfigValue(text, this.#folder)
      if (value === null) {
        this.#report(
          'value_not_allowed',
          [...path, name],
          `${this.#wording.place([...path, name])} ${problem}`,
        )
        continue
      }
      // What is given to a server when it is connected cannot depend on a call.
      if (value.kind === 'text' && scope !== null)
        this.#templates.template(value.text, [...path, name], scope)
      values[name] = value
    }
    return values
  }
}
