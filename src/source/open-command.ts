import { compileTemplate } from '../expression/compile-template.ts'
import type { Json } from '../shared/json.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Programs that start the program they are given. */
const starters = words(
  'env sudo doas nice ionice nohup timeout setsid stdbuf time xargs busybox chroot su runuser nsenter docker podman kubectl flatpak',
)
/** Programs that do what a text says which they are given as an option, as their first argument, or to read. */
const interpreters = words(
  'sh bash zsh dash ash ksh fish csh tcsh cmd powershell pwsh python pypy perl ruby node nodejs deno bun php lua luajit tclsh osascript rscript ' +
    'groovy awk gawk mawk nawk sed npx bunx uvx pipx psql mysql mariadb sqlite3 duckdb mongo mongosh redis-cli sqlcmd clickhouse-client',
)
/** Programs whose other arguments are one command line of another machine. */
const remote = words('ssh rsh')
const fetchers = words('curl wget http https xh aria2c lynx w3m')
/** Options of these after which no address stands. */
const fetcherValues =
  /^(?:-[dHuFXoAebTmx]|--(?:data|json|header|user|form|request|output|cookie|upload-file|max-time)[a-z-]*)$/
/** Options after which code stands: `-c`, `-lc`, `-e`, `-r`, `-p`, `--eval`, `/C`, `eval`. */
const codeOption =
  /^(?:-[A-Za-z]{0,4}[ceErpQ]|--?(?:[Cc]ommand|[Ee]ncoded[Cc]ommand|eval|print|execute|exec|query)|\/[CcKk]|eval)$/
/** The same with the code joined to it. */
const joinedCode = /^(?:-[ceErpQ]|--(?:command|eval|print|execute|exec|query)=)\{/

/** Says whether the arguments of a call decide what a program does, not only what it does it with: then it can do anything. */
export function isOpenCommand(command: readonly string[], stdin: Json | undefined): boolean {
  const [first = '', ...rest] = command
  if (hasHole(first)) return true
  const program = nameOf(first)
  if (starters.has(program)) return startsOpen(rest, stdin)
  if (remote.has(program)) return rest.some(hasHole) || holeIn(stdin)
  if (fetchers.has(program)) return rest.some((element, index) => choosesHost(element, rest[index - 1] ?? ''))
  return interpreters.has(program) && isOpenCode(rest, stdin)
}

/** What is started: the first known program among the elements, else whatever comes first that is no option. */
function startsOpen(rest: readonly string[], stdin: Json | undefined): boolean {
  const known = rest.findIndex((element) => isKnown(nameOf(element)))
  const started = rest.findIndex((element) => !/^(?:-.*|[\d.]+[smhd]?|\w+=.*)$/s.test(element))
  if (started !== -1 && (known === -1 || started < known) && hasHole(rest[started]!)) return true
  return known !== -1 && isOpenCommand(rest.slice(known), stdin)
}

function isKnown(program: string): boolean {
  return [starters, interpreters, remote, fetchers].some((names) => names.has(program))
}

/** Code stands after its option, or is named by the first argument, or is read where there is neither. */
function isOpenCode(rest: readonly string[], stdin: Json | undefined): boolean {
  const option = rest.findIndex((element) => codeOption.test(element))
  if (option !== -1) return hasHole(rest[option + 1] ?? '')
  if (rest.some((element) => joinedCode.test(element))) return true
  const script = rest.find((element) => !element.startsWith('-') && !/^\/[a-z]$/i.test(element))
  return script === undefined ? holeIn(stdin) : hasHole(script)
}

/** Says whether an address begins with a placeholder, or has one in the place of its host. */
function choosesHost(element: string, before: string): boolean {
  if (!hasHole(element) || fetcherValues.test(before)) return false
  const address = element.replace(/^--?[A-Za-z-]+=/, '')
  return /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/\s]*\{/i.test(address) && !/^[A-Za-z0-9_.-]+=/.test(address)
}

/** `/usr/bin/python3.12` and `CMD.EXE` are python and cmd. */
function nameOf(program: string): string {
  const name = program.split(/[\\/]/).at(-1)!.toLowerCase()
  const bare = name.replace(/\.(?:exe|cmd|bat)$/, '')
  return isKnown(bare) ? bare : bare.replace(/[\d.]+$/, '')
}

function hasHole(text: string): boolean {
  const { template } = compileTemplate(text, { names: ['args', 'inputs'] })
  return template === null || template.parts.some((part) => typeof part !== 'string')
}

function holeIn(value: Json | undefined): boolean {
  if (typeof value === 'string') return hasHole(value)
  return (
    typeof value === 'object' && value !== null && Object.values(value).some((each) => holeIn(each as Json))
  )
}
