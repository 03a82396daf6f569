/**
 * Writes control characters, escape sequences and direction marks as visible escapes, so that a text cannot
 * speak to the terminal or disguise itself. Tabs become spaces of the same number.
 */
export function escapeControl(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- finding them is the point
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => (character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
