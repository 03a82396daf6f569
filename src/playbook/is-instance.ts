/** Says whether a value is an instance of the class; a hostile proxy, which throws when asked, is none. */
export function isInstance<T extends object>(
  value: unknown,
  kind: abstract new (...args: never[]) => T,
): value is T {
  try {
    return value instanceof kind
  } catch {
    return false
  }
}
