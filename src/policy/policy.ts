import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import type { JsonObject } from '../shared/json.ts'
import type { PolicyRef } from './decision.ts'
import type { PolicyFile } from './policy-schema.ts'

/** A policy that was found to be without errors. Only checking makes one. */
export interface Policy extends PolicyRef {
  /** The content with its defaults filled in. */
  readonly file: PolicyFile
  /** The content as it was written, which the digest covers. */
  readonly source: JsonObject
}

/** Makes a policy of what has been checked. The digest does not depend on defaults, which a later version may add to. */
export function policyOf(file: PolicyFile, source: JsonObject): Policy {
  return { id: file.id, version: file.version, digest: digest(canonicalJson(source)), file, source }
}
