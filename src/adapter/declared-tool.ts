import type { JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import type { Risk, ToolDefinition } from '../tool/tool.ts'
import type { SecretReference, SecretVault } from './secret-vault.ts'

/** What every tool that is declared without code says of itself. */
export interface DeclaredTool {
  readonly name: string
  readonly description: string
  readonly input: JsonSchema | null
  /** Null where nothing is declared, which counts as irreversible. */
  readonly risk: Risk | null
  readonly timeoutSeconds: number
  readonly maxResultBytes: number
}

/** The value of a header or a variable: a text with placeholders, or a secret with what stands before it. */
export type DeclaredValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'secret'; readonly prefix: string; readonly reference: SecretReference }

/** What declared tools are given by whoever binds them. */
export interface Surroundings {
  readonly vault: SecretVault
  /** The inputs of the run, which placeholders may use besides the arguments. */
  readonly inputs: JsonObject
}

/** The part of a tool's definition that does not depend on what it reaches. */
export function commonDefinition(
  declared: DeclaredTool,
): Pick<ToolDefinition, 'name' | 'description' | 'input' | 'risk' | 'timeoutSeconds' | 'maxResultBytes'> {
  const { name, description, input, risk, timeoutSeconds, maxResultBytes } = declared
  return {
    name,
    description,
    timeoutSeconds,
    maxResultBytes,
    ...(input === null ? {} : { input }),
    ...(risk === null ? {} : { risk }),
  }
}

/** What came back as text without secrets, cut to a size with a note that it was. */
export function readText(bytes: Uint8Array, most: number, vault: SecretVault): string {
  const text = new TextDecoder().decode(bytes)
  if (bytes.length <= most) return vault.maskText(text)
  const note = `\n[cut: only the first ${most} bytes were kept]`
  return vault.cutText(text, Math.max(0, most - note.length), false) + note
}

/** The secret of a reference. Throws ToolFailure if it cannot be had: what needs it has not been done then. */
export async function resolveSecret(reference: SecretReference, vault: SecretVault): Promise<string> {
  try {
    return await vault.resolve(reference)
  } catch (error) {
    throw LockstepError.isInstance(error) ? new ToolFailure(error.message, { cause: error }) : error
  }
}
