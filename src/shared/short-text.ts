const maxLength = 10_000

/** A text that can always be written down: whole characters only, and cut where it is longer than anybody reads. */
export function shortText(text: string): string {
  const whole =
    text.length > maxLength ? `${text.slice(0, maxLength)}… [cut: ${text.length} characters]` : text
  return whole.toWellFormed()
}
