/** Blocks → agents and playbooks with their sections; nothing inside a section is understood yet. */
import type {
  MarkdownBlock,
  MarkdownCode,
  MarkdownItem,
  MarkdownText,
} from '../../document/markdown-block.ts'
import type { JsonObject } from '../../shared/json.ts'
import { nearestName } from '../../shared/nearest-name.ts'
import { type Findings, quote } from './findings.ts'
import { joinTexts, textsOf } from './join-texts.ts'
import { readMetadata } from './metadata.ts'
import { plainSigns } from './plain-signs.ts'
import { type Signature, parseSignature } from './signature.ts'
import { type Stray, straysIn } from './strays.ts'

/** An agent as written. */
export interface AgentDraft {
  readonly name: string
  readonly kind: 'ai' | 'human'
  readonly heading: MarkdownText | null
  readonly description: MarkdownText[]
  readonly metadata: JsonObject
  /** Notes that hold for all its playbooks. */
  readonly notes: readonly MarkdownText[]
  readonly playbooks: PlaybookDraft[]
  readonly code: MarkdownCode[]
}

/** A playbook as written. */
export interface PlaybookDraft {
  readonly heading: MarkdownText
  readonly signature: Signature
  readonly description: readonly MarkdownText[]
  readonly metadata: JsonObject
  readonly triggers: readonly MarkdownText[]
  readonly steps: readonly MarkdownItem[] | null
  /** What stands among the steps and is no bullet. */
  readonly strays: readonly Stray[]
  readonly notes: readonly MarkdownText[]
}

type Section = 'triggers' | 'steps' | 'notes'

const sections: ReadonlyMap<string, Section> = new Map([
  ['triggers', 'triggers'],
  ['trigger', 'triggers'],
  ['steps', 'steps'],
  ['step', 'steps'],
  ['notes', 'notes'],
  ['note', 'notes'],
])
const rulelike = /^(?:never|always|only|do\s+not|don't)\s+(?:call|run|use|execute)\b|^always\s.*\sbefore\s/i
/** The longest of them, with a colon. */
const longestSection = 9

/** The section a heading opens, if it is written as one. */
export function sectionNamed(title: string): Section | null {
  const name = title.trim()
  if (name.length > longestSection) return null
  const key = name.toLowerCase()
  return sections.get(key.endsWith(':') ? key.slice(0, -1) : key) ?? null
}

/** Sorts the blocks of a program under its headings. */
export function draftProgram(blocks: readonly MarkdownBlock[], findings: Findings): AgentDraft[] {
  const drafter = new Drafter(findings)
  for (const block of blocks) drafter.add(block)
  return drafter.finish()
}

interface OpenPlaybook {
  readonly heading: MarkdownText
  readonly preamble: MarkdownBlock[]
  /** Null while the playbook has no such section. */
  readonly sections: Record<Section, MarkdownBlock[] | null>
  readonly other: MarkdownBlock[]
}

interface OpenAgent {
  readonly heading: MarkdownText | null
  readonly preamble: MarkdownBlock[]
  readonly notes: MarkdownBlock[]
  readonly playbooks: OpenPlaybook[]
  readonly code: MarkdownCode[]
}

class Drafter {
  readonly #findings: Findings
  readonly #agents: OpenAgent[] = []
  #into: MarkdownBlock[] | null = null

  constructor(findings: Findings) {
    this.#findings = findings
  }

  add(block: MarkdownBlock): void {
    if (block.kind === 'break') return
    if (block.kind === 'heading') return this.#heading(block)
    const agent = this.#agent()
    if (block.kind === 'code' && isCode(block)) agent.code.push(block)
    else (this.#into ?? agent.preamble).push(block)
  }

  finish(): AgentDraft[] {
    return this.#agents
      .filter(
        ({ heading, preamble, playbooks, code }) =>
          heading !== null || playbooks.length + code.length + preamble.length > 0,
      )
      .map((agent) => this.#closeAgent(agent))
  }

  #heading(block: Extract<MarkdownBlock, { kind: 'heading' }>): void {
    const title = block.text.text
    if (block.level === 1) {
      const agent: OpenAgent = { heading: block.text, preamble: [], notes: [], playbooks: [], code: [] }
      this.#agents.push(agent)
      this.#into = agent.preamble
      return
    }
    const playbook = this.#agent().playbooks.at(-1)
    const section = sectionNamed(title)
    if (playbook === undefined && section !== null) return this.#agentSection(section, block)
    if (block.level === 2 && (section === null || playbook === undefined)) return this.#playbook(block.text)
    if (playbook === undefined) {
      // Nothing above it is a playbook: its text belongs to the agent.
      this.#agent().preamble.push({ kind: 'paragraph', text: block.text })
      return
    }
    if (section !== null) return this.#section(playbook, section, block)
    if (block.level === 3) this.#unknownSection(title, block.text)
    else if (this.#into !== playbook.preamble && this.#into !== playbook.other) this.#insideSection(block)
    if (this.#into === playbook.preamble || block.level === 3) {
      this.#into = playbook.other
      playbook.other.push({ kind: 'paragraph', text: block.text })
    }
  }

  /** Notes above every playbook hold for all of the agent's; anything else there has no playbook to belong to. */
  #agentSection(section: Section, block: Extract<MarkdownBlock, { kind: 'heading' }>): void {
    const agent = this.#agent()
    if (section === 'notes') {
      this.#into = agent.notes
      return
    }
    this.#findings.error(
      'unknown_heading',
      { text: block.text },
      `${quote(`${'#'.repeat(block.level)} ${block.text.text}`)} stands below no playbook`,
      'write `## Name` above it',
    )
    this.#into = []
  }

  /** What it says would hold for nothing: the bullets below it go on as if it were not there. */
  #insideSection(block: Extract<MarkdownBlock, { kind: 'heading' }>): void {
    this.#findings.error(
      'unknown_heading',
      { text: block.text },
      `${quote(`${'#'.repeat(block.level)} ${block.text.text}`)} stands inside a section, where a heading means nothing`,
      'write a condition as `If …` with bullets below it, and a part of its own as a playbook',
    )
  }

  /** Bullets that speak like notes below a heading that is none bind nobody. */
  #refuseRules(blocks: readonly MarkdownBlock[], heading: MarkdownText | null): void {
    const rule = blocks.find((block) => block.kind === 'item' && rulelike.test(plainSigns(block.text.text)))
    if (rule?.kind !== 'item') return
    const where = heading === null ? 'outside a section' : `below ${quote(heading.text)}`
    this.#findings.error(
      'unknown_heading',
      { text: rule.text },
      `${quote(rule.text.text)} reads like a rule, and stands ${where}, where nothing keeps it`,
      'write it below `### Notes`, in a playbook or straight below the agent',
    )
  }

  #playbook(heading: MarkdownText): void {
    const agent = this.#agent()
    const near =
      agent.playbooks.length > 0 && !heading.text.includes('(') ? nearestSection(heading.text) : null
    if (near !== null) {
      this.#findings.warn(
        'unknown_heading',
        { text: heading },
        `${quote(heading.text)} is read as a playbook`,
        `did you mean \`### ${near}\`?`,
      )
    }
    const sections = { triggers: null, steps: null, notes: null }
    const playbook: OpenPlaybook = { heading, preamble: [], sections, other: [] }
    agent.playbooks.push(playbook)
    this.#into = playbook.preamble
  }

  #section(
    playbook: OpenPlaybook,
    section: Section,
    block: Extract<MarkdownBlock, { kind: 'heading' }>,
  ): void {
    const canonical = section[0]!.toUpperCase() + section.slice(1)
    if (block.level !== 3 || !sameTitle(block.text.text, canonical)) {
      const message = `${quote(`${'#'.repeat(block.level)} ${block.text.text}`)} is read as \`### ${canonical}\``
      this.#findings.warn('irregular_form', { text: block.text }, message, `write \`### ${canonical}\``)
    }
    if (playbook.sections[section] !== null) {
      this.#findings.warn(
        'irregular_form',
        { text: block.text },
        `the playbook has \`### ${canonical}\` twice`,
        'put them together',
      )
    }
    this.#into = playbook.sections[section] ??= []
  }

  #unknownSection(title: string, text: MarkdownText): void {
    const near = nearestSection(title)
    if (near === null) {
      const message = `${quote(title)} is no section of a playbook; it is read as part of the description`
      this.#findings.warn('unknown_heading', { text }, message, 'the sections are Triggers, Steps and Notes')
    } else {
      this.#findings.error(
        'unknown_heading',
        { text },
        `${quote(title)} is no section of a playbook`,
        `did you mean \`### ${near}\`?`,
      )
    }
  }

  #agent(): OpenAgent {
    const last = this.#agents.at(-1)
    if (last !== undefined) return last
    const agent: OpenAgent = { heading: null, preamble: [], notes: [], playbooks: [], code: [] }
    this.#agents.push(agent)
    return agent
  }

  #closeAgent(agent: OpenAgent): AgentDraft {
    const title = agent.heading?.text.trim() ?? ''
    const typed = /^(.*?)\s*:\s*(human|ai|mcp)$/i.exec(title)
    const kind = typed?.[2]?.toLowerCase()
    if (kind === 'mcp' && agent.heading !== null) {
      this.#findings.error(
        'not_available',
        { text: agent.heading },
        'agents of the kind MCP are not available',
        'name the tools of the server in `tools` instead',
      )
    }
    if (kind === 'human' && agent.heading !== null) {
      this.#findings.error(
        'not_available',
        { text: agent.heading },
        'agents of the kind Human are not available: nobody of that name would be asked',
        'ask the user, who takes part in the conversation; others approve calls through a policy',
      )
    }
    const section = agent.heading === null ? null : sectionNamed(title)
    if (section !== null && agent.heading !== null) {
      this.#findings.error(
        'unknown_heading',
        { text: agent.heading },
        `${quote(`# ${title}`)} begins an agent of that name`,
        `write \`### ${title}\``,
      )
    } else this.#refuseRules(agent.preamble, agent.heading)
    const { metadata, description } = readMetadata(agent.preamble, 'agent', this.#findings)
    return {
      name: (typed?.[1] ?? title).trim() || 'Agent',
      kind: kind === 'human' ? 'human' : 'ai',
      heading: agent.heading,
      description,
      metadata,
      notes: this.#lines(agent.notes, 'note'),
      code: agent.code,
      playbooks: agent.playbooks.map((playbook) => this.#closePlaybook(playbook)),
    }
  }

  #closePlaybook(playbook: OpenPlaybook): PlaybookDraft {
    const { heading } = playbook
    const signature = parseSignature(heading.text)
    for (const problem of signature.problems) this.#findings.error('invalid_name', { text: heading }, problem)
    if (signature.name.length > longestName) {
      const message = `the name has ${signature.name.length} characters, and ${longestName} is the most`
      this.#findings.error('invalid_name', { text: heading }, message, 'say the rest in the description')
    }
    const read = readMetadata(playbook.preamble, 'playbook', this.#findings)
    const mode = read.metadata['execution_mode']
    const { triggers, steps, notes } = playbook.sections
    const bare = steps === null ? playbook.preamble.filter((block) => block.kind === 'item') : noItems
    const straight = mode === undefined && bare.length > 0
    if (straight) {
      this.#findings.warn(
        'irregular_form',
        { text: bare[0]!.text },
        'the steps stand straight below the playbook',
        'write `### Steps` above them',
      )
    }
    const blocks = steps ?? (straight ? bare : null)
    if (!straight) this.#refuseRules(playbook.preamble, heading)
    this.#refuseRules(playbook.other, null)
    return {
      heading,
      signature,
      description: described(
        straight
          ? readMetadata(
              playbook.preamble.filter((block) => block.kind !== 'item'),
              'playbook',
              this.#findings,
              true,
            ).description
          : read.description,
        playbook.other,
      ),
      metadata: read.metadata,
      triggers: triggers === null ? noTexts : this.#lines(triggers, 'trigger'),
      steps: blocks === null ? null : itemsIn(blocks),
      strays: blocks === null ? [] : straysIn(blocks),
      notes: notes === null ? noTexts : this.#lines(notes, 'note'),
    }
  }

  /** Triggers and notes are one thing a bullet; a paragraph is one as well. */
  #lines(blocks: readonly MarkdownBlock[], what: 'trigger' | 'note'): MarkdownText[] {
    const lines: MarkdownText[] = []
    for (const block of blocks) {
      if (block.kind === 'item') lines.push(withChildren(block))
      if (block.kind !== 'paragraph') continue
      if (what === 'trigger') {
        this.#findings.warn(
          'irregular_form',
          { text: block.text },
          'a trigger is written as a bullet',
          `write \`- ${block.text.text.split('\n', 1)[0]}\``,
        )
      }
      lines.push(block.text)
    }
    return lines
  }
}

const noItems: readonly MarkdownItem[] = []
const noTexts: readonly MarkdownText[] = []

/** A description with what stands below headings that are no sections. */
function described(description: readonly MarkdownText[], other: readonly MarkdownBlock[]) {
  return other.length === 0 ? description : [...description, ...textsOf(other)]
}

/** The ids of steps begin with the name, perhaps with that of the agent before it, and have 128 characters at most. */
const longestName = 100

/** No section is meant by a longer title. */
const longestMistake = 13

function nearestSection(title: string): string | null {
  if (title.length > longestMistake) return null
  return nearestName(title.trim().replace(/:$/, ''), ['Triggers', 'Steps', 'Notes'])
}

function isCode(block: MarkdownCode): boolean {
  return ['python', 'py', 'ts', 'typescript', 'js', 'javascript'].includes(block.language)
}

function sameTitle(title: string, canonical: string): boolean {
  const given = title.trim().toLowerCase()
  return given === canonical.toLowerCase() || given === canonical.slice(0, -1).toLowerCase()
}

function itemsIn(blocks: readonly MarkdownBlock[]): readonly MarkdownItem[] {
  return blocks.every((block) => block.kind === 'item')
    ? blocks
    : blocks.filter((block) => block.kind === 'item')
}

/** The text of a bullet and of what is below it. */
function withChildren(item: MarkdownItem): MarkdownText {
  if (item.children.length === 0) return item.text
  return joinTexts([item.text, ...textsOf(item.children)])
}
