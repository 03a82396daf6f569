import { redactObject, redactText } from '../shared/redact.ts'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { auditApprovals, type AuditApproval, decisionOf } from './audit-approval.ts'
import { auditExceptions } from './audit-exception.ts'
import type { AuditEntry, AuditRun } from './audit-run.ts'
import { writeTime } from './csv.ts'
import { html, writePage, type Html } from './html.ts'

/** A run for people: what it was, what was out of the ordinary, who approved what, and everything that happened in order. Secrets are taken out. */
export function writeRunPage(run: AuditRun): string {
  const approvals = auditApprovals(run)
  const exceptions = auditExceptions([run])
  const body = html`<h1>${run.playbook} · ${run.status}</h1>
    <dl>
      <dt>Run</dt>
      <dd><code>${run.run}</code></dd>
      <dt>Playbook</dt>
      <dd>${run.playbook} <code>${run.digest}</code></dd>
      <dt>Begun</dt>
      <dd>${writeTime(run.openedAt)} by ${run.principal} (${run.tenant})</dd>
      <dt>Ended</dt>
      <dd>
        ${run.closedAt === null ? 'not yet' : `${writeTime(run.closedAt)}, after ${duration(run.closedAt - run.openedAt)}`}
      </dd>
      <dt>Calls</dt>
      <dd>
        ${run.dryRun ? 'shown, not made: a dry run' : 'really made'}; the playbook
        ${run.enforced ? html`was enforced` : html`<span class="bad">was observed, not enforced</span>`}
      </dd>
      ${
        Object.keys(run.inputs).length === 0
          ? null
          : html`<dt>Inputs</dt>
              <dd><pre>${json(run.inputs)}</pre></dd>`
      }
      <dt>Last hash</dt>
      <dd>
        ${run.head === null ? 'none: this record was kept without a chain' : html`<code>${run.head}</code>`}
      </dd>
    </dl>
    ${
      exceptions.length === 0
        ? html`<p class="good">Nothing out of the ordinary.</p>`
        : html`<h2>Out of the ordinary</h2>
            <ul>
              ${exceptions.map(({ kind, seq, tool, what }) => html`<li><span class="bad">${kind.replaceAll('_', ' ')}</span> ${tool} ${redactText(what)} <span class="quiet">entry ${seq}</span></li>`)}
            </ul>`
    }
    ${
      approvals.length === 0
        ? null
        : html`<h2>Approvals</h2>
            ${approvals.map(approvalOf)}`
    }
    <h2>What happened</h2>
    <table>
      <thead>
        <tr>
          <th>Entry</th>
          <th>After</th>
          <th>What</th>
        </tr>
      </thead>
      <tbody>
        ${run.entries.map((entry) => row(entry, run.openedAt))}
      </tbody>
    </table>
    <p class="quiet">
      Made from the record by Lockstep. It shows what the record says; <code>lockstep verify</code> says what
      the record proves.
    </p>`
  return writePage(`${run.playbook} ${run.run}`, body)
}

function approvalOf({ id, tool, args, policy, rule, why, askedAt, votes, state }: AuditApproval): Html {
  return html`<h3>${tool} · ${state} <code>${id}</code></h3>
    <p>${rule} of ${policy}: ${redactText(why)}</p>
    <pre>${json(args)}</pre>
    <ul>
      ${votes.map(({ person, identity, roles, answer, reason, at }) => html`<li>${person} (${identity === 'asserted' ? html`<span class="bad">asserted, nobody checked</span>` : identity}; ${roles.join(', ') || 'no role'}) ${answer === 'approve' ? 'approved' : 'denied'}${reason === null ? '' : `: ${redactText(reason)}`} <span class="quiet">after ${duration(at - askedAt)}</span></li>`)}
    </ul>`
}

function row(entry: AuditEntry, began: number): Html | null {
  const told = tell(entry)
  if (told === null) return null
  return html`<tr>
    <td>${entry.seq}</td>
    <td class="quiet">${duration(entry.at - began)}</td>
    <td>${told}${entry.withheld ? html` <span class="quiet">(secrets taken out)</span>` : null}</td>
  </tr> `
}

/** What an entry says; null where only machines need it. */
function tell({ type, data, withheld }: AuditEntry): Html | null {
  const tool = shown(data['tool'])
  const call = () => html`<strong>${tool}</strong>${detail(data['args'])}`
  const step = data['step'] == null ? '' : ` for step ${shown(data['step'])}`
  if (withheld && Object.keys(data).length === 0) return html`${type} <span class="quiet">erased</span>`
  switch (type) {
    case 'tool.admitted':
      return html`<span class="good">allowed</span>${step}: ${call()}${broken(data)}`
    case 'tool.held':
      return html`waits for approval${step}: ${call()}
        <p>${shown(data['message'])}</p>`
    case 'tool.denied':
      return html`<span class="bad">denied ${shown(data['code'])}</span>: ${call()}
        <p>${shown(data['message'])}</p>`
    case 'tool.settled':
      return html`${shown(data['callId'])}
      ${data['outcome'] === 'succeeded' ? html`<span class="good">succeeded</span>` : html`<span class="bad">${shown(data['outcome'])}</span>`}${detail(data['result'] ?? data['error'])}`
    case 'approval.voted': {
      const vote = isJsonObject(data['vote']) ? data['vote'] : {}
      return html`${shown(vote['person'])} said ${shown(vote['answer'])}; that comes to
      ${shown(data['comesTo'])}`
    }
    case 'approval.expired':
      return html`<span class="bad">not approved in time</span>: ${shown(data['callId'])}`
    case 'model.answered':
      return data['text'] === '' ? null : html`<div class="model"><pre>${shown(data['text'])}</pre></div>`
    case 'message.sent':
      return data['by'] === 'model'
        ? html`said
            <div class="model"><pre>${shown(data['text'])}</pre></div>`
        : html`said
            <pre>${shown(data['text'])}</pre>`
    case 'message.received':
      return html`a person said
        <pre>${shown(data['text'])}</pre>`
    case 'run.started':
      return html`begun`
    case 'run.finished':
      return html`<strong>${shown(data['status'])}</strong>${detail(data['message'])}`
    case 'step.completed':
    case 'step.skipped':
    case 'step.failed':
    case 'step.escalated':
    case 'step.retried':
    case 'step.undecided':
    case 'step.refused':
      return html`step ${shown(data['step'])}
      ${type.slice('step.'.length)}${detail(data['error'] ?? data['reason'] ?? data['reasons'])}`
    case 'run.paused':
    case 'run.unpaused':
    case 'cancel.requested':
      return html`${type.replace('.', ' ')} by ${shown(data['by'])}${detail(data['reason'])}`
    case 'compensation.begun':
      return html`undoing begins${detail(data['reason'])}`
    case 'finish.refused':
      return html`<span class="bad">final answer sent back</span>${detail(data['remaining'])}`
    default:
      return null
  }
}

function broken(data: JsonObject): Html | null {
  const glass = decisionOf(data)['breakGlass']
  return isJsonObject(glass)
    ? html` <span class="bad">the glass was broken: ${shown(glass['reason'])}</span>`
    : null
}

function detail(value: Json | undefined): Html | null {
  if (value == null || (isJsonObject(value) && Object.keys(value).length === 0)) return null
  return html`<pre>${typeof value === 'string' ? shown(value) : json(value)}</pre>`
}

const longest = 4_000

function json(value: Json): string {
  return cut(
    JSON.stringify(isJsonObject(value) ? redactObject(value) : redactObject({ value })['value'], null, 2),
  )
}

function shown(value: Json | undefined): string {
  return cut(
    typeof value === 'string' ? redactText(value) : value == null ? '' : redactText(JSON.stringify(value)),
  )
}

function cut(text: string): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest)}… (${text.length - longest} more characters)`
}

/** How long something took, roughly. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1_000
  if (seconds < 120) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
}
