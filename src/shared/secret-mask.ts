import type { Json } from './json.ts'

/** What stands in the place of a secret. */
export const mask = '[secret]'

/** Shorter ones would take half of every text with them. */
export const shortestSecret = 4

/** Keeps the secrets it has learned out of texts and values, also where they are encoded; a cut never leaves half of one. */
export class SecretMask {
  readonly #known = new Set<string>()
  #forms: readonly string[] = []
  #pattern: RegExp | null = null

  /** Masks the secret from now on. */
  learn(secret: string): void {
    if (this.#known.has(secret)) return
    this.#known.add(secret)
    const forms = [...this.#known].flatMap(writtenForms)
    // The longest first, so that a secret that begins with another one goes as a whole.
    forms.sort((a, b) => b.length - a.length)
    this.#forms = forms
    this.#pattern = new RegExp(
      forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'),
      'g',
    )
  }

  /** The text with a mask in the place of every secret. */
  maskText(text: string): string {
    return this.#pattern === null ? text : text.replace(this.#pattern, mask)
  }

  /** How many letters at the end of the text are the beginning of a secret, whose rest may follow. */
  openEnd(text: string): number {
    let length = Math.min(text.length, Math.max(0, (this.#forms[0]?.length ?? 0) - 1))
    while (length > 0 && !this.#begins(text.slice(-length))) length--
    return length
  }

  #begins(end: string): boolean {
    return this.#forms.some((form) => form.length > end.length && form.startsWith(end))
  }

  /** The masked text up to a length. `whole` says whether more would have followed; a secret whose rest is cut off goes too. */
  cutText(text: string, most: number, whole: boolean): string {
    const masked = this.maskText(text)
    if (whole && masked.length <= most) return masked
    const kept = masked.slice(0, most)
    for (
      let length = Math.min(kept.length, this.#forms[0]?.length ?? 0);
      length >= shortestSecret;
      length--
    ) {
      const end = kept.slice(-length)
      if (this.#forms.some((form) => form.startsWith(end))) return kept.slice(0, -length) + mask
    }
    return kept
  }

  /** The value with a mask in the place of every secret, in keys too. */
  maskJson(value: Json): Json {
    if (this.#pattern === null) return value
    if (typeof value === 'string') return this.maskText(value)
    if (typeof value === 'number') return this.maskText(String(value)) === String(value) ? value : mask
    if (Array.isArray(value)) return value.map((item) => this.maskJson(item as Json))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.maskText(key), this.maskJson(item as Json)]),
    )
  }
}

/** The ways in which a secret may turn up in a text: as it is, in JSON, in a URL, in Base64, line by line. */
function writtenForms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret)
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= 8)
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
    ...lines,
  ]
}
