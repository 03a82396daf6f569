import { escapeControl } from '../shared/escape-control.ts'

/** A piece of a page that is written already; only `html` makes one. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | readonly Part[]

/** Writes a piece of a page. Whatever is put into it is escaped, unless it is a piece of a page itself. */
export function html(fixed: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    fixed.map((text, index) => text + (index < parts.length ? write(parts[index]!) : '')).join(''),
  )
}

function write(part: Part): string {
  if (part === null) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return (part as readonly Part[]).map(write).join('')
  return escape(String(part))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Line breaks stay: they say nothing to a page. */
function escape(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeControl(line))
    .join('\n')
    .replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #e3e6ea}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{white-space:pre-wrap;word-break:break-word;background:#f5f6f8;padding:.5rem;margin:.2rem 0}
td,dd{word-break:break-word}dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:#57606a}dd{margin:0}
.bad{color:#b3161b;font-weight:600}.good{color:#116329}.quiet{color:#57606a}
.model{border-left:3px solid #8250df;padding-left:.6rem}.model::before{content:"written by a model";color:#8250df;font-size:12px;display:block}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}pre{background:#161b22}th,td{border-color:#30363d}.bad{color:#ff7b72}.good{color:#7ee787}.quiet,dt{color:#8b949e}}`

/** A page that needs nothing but itself: no script, no picture, nothing from anywhere, and a policy that says so. */
export function writePage(title: string, body: Html): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>${title}</title>
        <style>
          ${new Html(style)}
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `
  return page.text
}
