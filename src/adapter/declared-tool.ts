import type { JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import type { Risk, ToolDefinition } from '../tool/tool.ts'
import type { SecretReference, SecretVault } from './secret-vault.ts'
import { compileJsonTemplate, compileToolTemplate, fillText } from './tool-template.ts'

/** What every tool that is declared without code says of itself. */
export interface DeclaredTool {
  readonly name: string
  readonly description: string
  readonly input: JsonSchema | null
  /** Null where nothing is declared, which counts as irreversible. */
  readonly risk: Risk | null
  readonly timeoutSeconds: number
  readonly maxResultBytes: number
  /** What a call acts on, with placeholders; null where it is not said. */
  readonly target: string | null
  /** Whether a call that is sent again under its key has no further effect. */
  readonly idempotent: boolean
  /** The call that undoes a succeeded one, with placeholders over `args`, `inputs` and `result`. */
  readonly compensate: { readonly tool: string; readonly input: JsonObject } | null
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
  inputs: JsonObject,
): Omit<ToolDefinition, 'execute' | 'reconcile' | 'dryRun'> {
  const { name, description, input, risk, timeoutSeconds, maxResultBytes, idempotent } = declared
  const target =
    declared.target === null ? null : compileToolTemplate(declared.target, `The target of '${name}'`)
  const undo =
    declared.compensate === null
      ? null
      : compileJsonTemplate(declared.compensate.input, `What undoes '${name}'`, ['result'])
  return {
    name,
    description,
    timeoutSeconds,
    maxResultBytes,
    idempotent,
    ...(input === null ? {} : { input }),
    ...(risk === null ? {} : { risk }),
    ...(target === null ? {} : { target: (args) => fillText(target, { args, inputs, key: '' }) }),
    ...(undo === null
      ? {}
      : {
          compensate: (args, result) => ({
            tool: declared.compensate!.tool,
            args: undo({ args, inputs, key: '', more: [result] }) as JsonObject,
          }),
        }),
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
