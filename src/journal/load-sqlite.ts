/** The platform's SQLite. Loaded when it is needed, and without the warning of some versions of Node that it is new: that concerns us, not who uses us. */
export function loadSqlite(): typeof import('node:sqlite') {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite')) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}
