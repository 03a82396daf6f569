/** The text with everything in quotes or brackets blanked out, as long as before. */
export function withoutInner(text: string): string {
  let depth = 0
  let quote = ''
  let bare = ''
  for (const sign of text.split('')) {
    const inside = quote !== '' || depth > 0
    if (quote !== '') {
      if (sign === quote) quote = ''
    } else if (sign === '"') quote = '"'
    else if (sign === '“') quote = '”'
    else if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth = Math.max(0, depth - 1)
    bare += inside || quote !== '' ? '_' : sign
  }
  return bare
}
