import { autocompletion, closeBrackets } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { markdown } from '@codemirror/lang-markdown'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  defaultHighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Squiggle } from '@codemirror/lint'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { nonce } from '../shell/nonce.ts'
import { completeFromSchema, type Schema } from './complete-from-schema.ts'
import type { Finding } from './finding.ts'
import { highlighting } from './highlighting.ts'

type Props = {
  label: string
  text: string
  language: 'yaml' | 'markdown'
  readOnly?: boolean
  findings: readonly Finding[]
  /** What keys and values may be written; without it nothing is offered. */
  schema?: Schema | null
  onChange: (text: string) => void
}

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--ink)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--hover) 70%, transparent)',
  },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '5px',
    maxWidth: '34rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--ink)',
  },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--ink)' },
  '.cm-textfield': { backgroundColor: 'var(--surface)', color: 'var(--ink)' },
})

/** A text with its mistakes marked where they are. Tab indents; Escape and then Tab leaves. */
export function TextEditor({
  label,
  text,
  language,
  readOnly = false,
  findings,
  schema = null,
  onChange,
}: Props) {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const setup = useRef(new Compartment())
  const mode = modeOf(label, language, readOnly, schema)
  const first = useRef({ text, mode })
  useEffect(() => {
    const made = new EditorView({
      parent: host.current!,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          setup.current.of(first.current.mode),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])
  const { current: shown } = view
  useEffect(() => {
    view.current?.dispatch({ effects: setup.current.reconfigure(modeOf(label, language, readOnly, schema)) })
  }, [label, language, readOnly, schema])
  useEffect(() => {
    const state = view.current?.state
    if (state !== undefined && state.doc.toString() !== text)
      view.current?.dispatch({ changes: { from: 0, to: state.doc.length, insert: text } })
  }, [text])
  useEffect(() => {
    const state = view.current?.state
    if (state !== undefined) view.current?.dispatch(setDiagnostics(state, squiggles(state, findings)))
  }, [findings, shown])
  return <div ref={host} className="h-full overflow-hidden rounded-md border border-line" />
}

function modeOf(
  label: string,
  language: Props['language'],
  readOnly: boolean,
  schema: Schema | null,
): Extension {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    lintGutter(),
    language === 'yaml' ? yaml() : markdown(),
    syntaxHighlighting(highlighting),
    syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
    schema === null
      ? autocompletion({ override: [] })
      : autocompletion({ override: [completeFromSchema(schema)] }),
    keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorState.readOnly.of(readOnly),
    EditorState.tabSize.of(2),
    look,
  ]
}

/** Findings as places in the text; one without a place stands at its beginning. */
function squiggles({ doc }: EditorState, findings: readonly Finding[]): Squiggle[] {
  const offset = (line: number | null, column: number | null): number | null => {
    if (line === null || line > doc.lines) return null
    const { from, to } = doc.line(Math.max(1, line))
    return Math.min(to, from + Math.max(0, (column ?? 1) - 1))
  }
  return findings.map(({ severity, message, hint, line, column, endLine, endColumn }) => {
    const from = offset(line, column) ?? 0
    const to = Math.max(from, offset(endLine, endColumn) ?? from)
    const end = to > from ? to : Math.min(doc.lineAt(from).to, from + 1)
    return { from, to: end, severity, message: hint === null ? message : `${message}, ${hint}` }
  })
}
