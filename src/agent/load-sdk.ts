let loading: Promise<typeof import('ai')> | null = null

/** The AI SDK, loaded when the first model is asked: whoever only checks playbooks does not wait for it. */
export function loadSdk(): Promise<typeof import('ai')> {
  loading ??= import('ai')
  return loading
}
