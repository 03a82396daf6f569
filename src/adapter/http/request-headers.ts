import { ToolFailure } from '../../tool/tool-failure.ts'
import { type DeclaredValue, resolveSecret } from '../declared-tool.ts'
import { showReference, type SecretVault } from '../secret-vault.ts'
import { type CallValues, compileToolTemplate, fillText } from '../tool-template.ts'

/** Makes the headers of each request; in the place of a secret that is only shown stands which one it would be. */
export type FilledHeaders = (values: CallValues, secrets: 'resolved' | 'shown') => Promise<Headers>

/** Compiles the headers of a tool. Throws `invalid_tool` if their placeholders are no expressions. */
export function compileHeaders(
  declared: Readonly<Record<string, DeclaredValue>>,
  tool: string,
  vault: SecretVault,
): FilledHeaders {
  const headers = Object.entries(declared).map(([header, value]) => {
    const what = `The header '${header}' of '${tool}'`
    const template = value.kind === 'text' ? compileToolTemplate(value.text, what) : null
    return { header, value, what, template }
  })
  return async (values, secrets) => {
    const filled = new Headers()
    for (const { header, value, what, template } of headers) {
      if (template !== null) filled.set(header, headerText(fillText(template, values), what))
      else if (value.kind === 'secret') {
        const secret =
          secrets === 'shown' ? showReference(value.reference) : await resolveSecret(value.reference, vault)
        filled.set(header, headerText(value.prefix + secret, what))
      }
    }
    return filled
  }
}

/** The text, which can stand in a header: a line break in one would begin another header. Throws ToolFailure if it cannot. */
export function headerText(text: string, what: string): string {
  if (/^[\t\x20-\x7e\u00a0-\u00ff]*$/.test(text)) return text
  throw new ToolFailure(
    `${what} cannot be filled in with line breaks, control characters or letters outside Latin-1`,
  )
}
