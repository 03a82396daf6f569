/** What the architecture allows. ARCHITECTURE.md shows `mayImport` as a table; a test compares the two. */
export type FolderRules = {
  /** For each folder (or file) directly under src/: what it may import besides itself and `shared`. */
  readonly mayImport: Readonly<Record<string, readonly string[] | 'anything'>>
  /** Folders that run the same everywhere: no platform, clock, timer, randomness or locale. */
  readonly pure: readonly string[]
  /** npm packages a pure folder may import; a folder that is not listed may import none. */
  readonly packages: Readonly<Record<string, readonly string[]>>
  /** Folders that hold a contract and, as subfolders, implementations that know nothing of each other. */
  readonly backends: readonly string[]
  /** Who may reach into an implementation: everybody else knows the contract only. */
  readonly assemblers: readonly string[]
  /** Who may import a module whose name is known only at run time, such as a user's own playbook. */
  readonly computedImports: readonly string[]
}

const core = ['expression', 'document', 'playbook', 'policy', 'run', 'proof']

export const folderRules: FolderRules = {
  mayImport: {
    shared: [],
    expression: [],
    document: [],
    journal: [],
    playbook: ['document', 'expression'],
    policy: ['document', 'expression', 'playbook'],
    run: ['playbook', 'expression'],
    proof: ['run', 'policy', 'playbook', 'journal'],
    tool: ['run', 'policy', 'journal', 'playbook'],
    source: ['playbook', 'policy', 'document', 'expression'],
    agent: ['tool', 'run', 'playbook', 'journal'],
    engine: ['run', 'agent', 'tool', 'journal'],
    overview: ['journal', 'run', 'policy', 'playbook'],
    directory: ['journal', 'api'],
    api: [],
    client: ['api'],
    report: ['journal', 'run', 'proof'],
    adapter: ['tool', 'expression'],
    practice: ['tool', 'source'],
    mcp: ['tool', 'run', 'playbook', 'journal'],
    webhook: ['journal', 'overview', 'expression'],
    platform: [
      'api',
      'directory',
      'overview',
      'webhook',
      'engine',
      'agent',
      'journal',
      'tool',
      'source',
      'document',
      'playbook',
      'policy',
      'run',
    ],
    gateway: [
      'api',
      'directory',
      'overview',
      'platform',
      'webhook',
      'engine',
      'journal',
      'tool',
      'source',
      'report',
      'expression',
      'document',
      'playbook',
      'policy',
      'run',
      'proof',
    ],
    cli: ['app.ts', 'app-serve.ts', ...core, 'source', 'tool', 'overview', 'mcp', 'report'],
    testing: ['tool', 'agent', 'journal', 'engine'],
    'app.ts': 'anything',
    'app-tools.ts': 'anything',
    'app-serve.ts': 'anything',
    'index.ts': 'anything',
  },
  pure: ['shared', 'api', ...core],
  packages: {
    shared: ['@noble/hashes', '@cfworker/json-schema'],
    document: ['yaml'],
    playbook: ['zod'],
    policy: ['zod'],
    api: ['zod'],
  },
  backends: ['engine', 'journal', 'adapter'],
  assemblers: ['app.ts', 'app-tools.ts', 'app-serve.ts', 'index.ts', 'testing'],
  computedImports: ['source'],
}
