export type Rule =
  | 'no-code'
  | 'unreadable'
  | 'file-name'
  | 'unknown-folder'
  | 'unresolved'
  | 'leaves-src'
  | 'folder'
  | 'backend'
  | 'cycle'
  | 'computed-import'
  | 'package'
  | 'test-import'
  | 'impure'
  | 'index'

/** One breach of the architecture, at a line that a reader can open. */
export type Violation = {
  readonly rule: Rule
  readonly file: string
  readonly line: number
  readonly message: string
}
