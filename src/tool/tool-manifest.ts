import { canonicalJson } from '../shared/canonical-json.ts'
import { digest } from '../shared/digest.ts'
import type { Json } from '../shared/json.ts'
import type { ToolRegistry } from './tool-registry.ts'
import type { Tool } from './tool.ts'

/** What a run was begun with, as its record pins it: the names of its tools, what each can do at worst, and the digest of its schema. */
export interface ToolManifest {
  readonly text: string
  readonly digest: string
}

const manifests = new WeakMap<ToolRegistry, { readonly size: number; readonly manifest: ToolManifest }>()
const lines = new WeakMap<Tool, Json>()

/** The manifest of the tools; worked out once for as long as no tool is added. */
export function toolManifest(tools: ToolRegistry): ToolManifest {
  const size = tools.names.length
  const known = manifests.get(tools)
  if (known?.size === size) return known.manifest
  const sorted = [...tools].sort((one, other) => (one.name < other.name ? -1 : 1))
  const text = canonicalJson({ tools: sorted.map(lineOf) })
  const manifest = { text, digest: digest(text) }
  manifests.set(tools, { size, manifest })
  return manifest
}

function lineOf(tool: Tool): Json {
  let line = lines.get(tool)
  if (line === undefined) {
    const { name, risk, input } = tool
    line = { name, risk, input: input === null ? null : digest(canonicalJson(input as Json)) }
    lines.set(tool, line)
  }
  return line
}
