/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error)
  } catch {
    return 'something that says nothing was thrown'
  }
}
