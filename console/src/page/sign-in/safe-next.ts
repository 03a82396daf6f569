/** Where to go after signing in: an address inside this console, whatever the link that led here says. */
export function safeNext(next: string | undefined, base = '/console/'): string {
  // A second slash, of either kind, would begin the name of a host.
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return base
  const path = next.startsWith(base) ? next : `${base.slice(0, -1)}${next}`
  try {
    const url = new URL(path, 'http://console.invalid')
    const inside = url.origin === 'http://console.invalid' && url.pathname.startsWith(base)
    return inside ? `${url.pathname}${url.search}${url.hash}` : base
  } catch {
    return base
  }
}
