import { HighlightStyle } from '@codemirror/language'
import { tags } from '@lezer/highlight'

/** The colours of a text, of the console's own palette, so that both themes read well. */
export const highlighting = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--accent)' },
  { tag: [tags.heading, tags.strong], fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: [tags.string, tags.monospace], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--info)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--muted)' },
  { tag: [tags.keyword, tags.labelName], color: 'var(--warn)' },
])
