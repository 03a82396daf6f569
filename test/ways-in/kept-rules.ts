import { Playbook } from '../../src/playbook/playbook.ts'
import type { PlaybookStepDefinition } from '../../src/playbook/playbook-step.ts'
import type { Came, Trial } from './way-in.ts'

/** A rule of the gate, how to see whether it is kept, and what comes of it if it is. */
export interface KeptRule {
  readonly rule: string
  readonly says: string
  readonly trial: Trial
  readonly comes: Came
  /** What the agent is told on the way. */
  readonly tells?: readonly string[]
  /** The ways in for which the rule has no meaning, and why. */
  readonly except?: Readonly<Record<string, string>>
}

const step = (id: string, fields: Partial<PlaybookStepDefinition> = {}) => ({
  id,
  description: id,
  expectedTools: [id],
  ...fields,
})
const playbook = (...steps: ReturnType<typeof step>[]) => new Playbook({ id: 'p', name: 'P', steps })

const underPolicy = { playbook: playbook(step('a'), step('b')), turns: [['a'], ['b'], ['.']] }
const approvals = 'id: p\napprovals: [{ tool: b, required_roles: [lead] }]\nrisk: { irreversible: allow }\n'
const asksNone = { '`guard` (AI SDK)': 'it asks no policies yet' }

/** The rules that every way in is tried on. */
export const keptRules: readonly KeptRule[] = [
  {
    rule: 'G1',
    says: 'what is not allowed is denied',
    trial: { playbook: playbook(step('a')), turns: [['not_there'], ['a'], ['.']] },
    comes: { ran: ['a'], succeeded: true },
  },
  {
    rule: 'G2',
    says: 'only the tools of the step run',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['x'], ['a'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
  },
  {
    rule: 'G3',
    says: 'steps come in order',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['b'], ['a'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
  },
  {
    rule: 'G4',
    says: 'a call counts for one step',
    trial: {
      playbook: playbook(step('one', { expectedTools: ['a'] }), step('two', { expectedTools: ['a'] })),
      turns: [['a'], ['a'], ['a'], ['.']],
    },
    comes: { ran: ['a', 'a'], succeeded: true },
  },
  {
    rule: 'G5',
    says: 'after a refusal nothing that writes runs in that turn',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['b', 'a'], ['a'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
    except: { '`lockstep mcp`': 'a client does not say where a turn ends' },
  },
  {
    rule: 'G6',
    says: 'only success is evidence',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['a!'], ['b'], ['a'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
  },
  {
    rule: 'G7',
    says: 'a step without tools is declared',
    trial: {
      playbook: playbook(step('a'), step('note', { expectedTools: [] }), step('b')),
      turns: [['a'], ['b'], ['complete_step'], ['b'], ['.']],
    },
    comes: { ran: ['a', 'b'], succeeded: true },
  },
  {
    rule: 'G8',
    says: 'a limit is never a success',
    trial: {
      playbook: playbook(step('a', { maxToolCalls: 1 }), step('b')),
      turns: [['a!'], ['a'], ['b'], ['.']],
    },
    comes: { ran: [], succeeded: false },
  },
  {
    rule: 'G9',
    says: 'an early final answer is no end',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['a'], ['.'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
    except: {
      '`guard` (AI SDK)':
        'the model must call a tool until it may finish; a text alone ends the loop with an error',
    },
  },
  {
    rule: 'G10',
    says: 'a refusal says why, and what is due',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['b'], ['a'], ['b'], ['.']] },
    comes: { ran: ['a', 'b'], succeeded: true },
    tells: ['out_of_sequence', "step 'a' comes first"],
  },
  {
    rule: 'G13',
    says: 'observing lets everything through',
    trial: { playbook: playbook(step('a'), step('b')), turns: [['b'], ['a']], observe: true },
    comes: { ran: ['b', 'a'], succeeded: false },
  },
  {
    rule: 'G14',
    says: 'what a policy denies is not done',
    trial: {
      ...underPolicy,
      policy: 'id: p\ntool_allowlist: { agent: [a] }\nrisk: { irreversible: allow }\n',
    },
    comes: { ran: ['a'], succeeded: false },
    except: asksNone,
  },
  {
    rule: 'G15',
    says: 'what needs approval waits for it',
    trial: { ...underPolicy, policy: approvals },
    comes: { ran: ['a'], succeeded: false },
    except: asksNone,
  },
  {
    rule: 'G15',
    says: 'what was approved is done, once',
    trial: { ...underPolicy, policy: approvals, approve: true },
    comes: { ran: ['a', 'b'], succeeded: true },
    except: asksNone,
  },
  {
    rule: 'G16',
    says: 'what cannot be written down is not done',
    trial: { playbook: playbook(step('a')), turns: [['a'], ['.']], mute: true },
    comes: { ran: [], succeeded: false },
    except: { '`guard` (AI SDK)': 'it keeps no journal' },
  },
]
