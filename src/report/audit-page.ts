import { redactText } from '../shared/redact.ts'
import { auditApprovals } from './audit-approval.ts'
import { exceptionKinds, type AuditException } from './audit-exception.ts'
import type { AuditRun } from './audit-run.ts'
import { writeTime } from './csv.ts'
import { html, writePage, type Html } from './html.ts'
import { duration } from './run-page.ts'

/** The most lines of a table; the CSV files hold all. */
const most = 500

/** Many runs for an auditor: the figures, what was out of the ordinary, who approved what, and every run. Secrets are taken out. */
export function writeAuditPage(
  title: string,
  summary: string,
  runs: readonly AuditRun[],
  exceptions: readonly AuditException[],
): string {
  const approvals = runs.flatMap(auditApprovals)
  const body = html`<h1>${title}</h1>
    <p>${summary}</p>
    <h2>Out of the ordinary</h2>
    ${exceptions.length === 0 ? html`<p class="good">Nothing.</p>` : html`<p>${counted(exceptions)}</p>`}
    ${table(
      ['Kind', 'When', 'Run', 'Call', 'What'],
      exceptions.map(({ kind, at, run, seq, tool, what }) => [
        html`<span class="bad">${kind.replaceAll('_', ' ')}</span>`,
        html`${writeTime(at)}`,
        html`<code>${run}</code> <span class="quiet">entry ${seq}</span>`,
        html`${tool}`,
        html`${redactText(what)}`,
      ]),
    )}
    <h2>Approvals</h2>
    ${table(
      ['Call', 'Run', 'Asked', 'Answer'],
      approvals.map(({ tool, run, askedAt, askedBy, votes, state }) => [
        html`${tool}`,
        html`<code>${run}</code>`,
        html`${writeTime(askedAt)} for ${askedBy}`,
        html`${state}${votes.map(({ person, identity, answer, reason, at }) => html`<br />${person} (${identity === 'asserted' ? html`<span class="bad">asserted</span>` : identity}) ${answer}${reason === null ? '' : `: ${redactText(reason)}`} after ${duration(at - askedAt)}`)}`,
      ]),
    )}
    <h2>Runs</h2>
    ${table(
      ['Run', 'Playbook', 'Begun', 'By', 'Ended'],
      runs.map(({ run, playbook, openedAt, principal, status, enforced }) => [
        html`<code>${run}</code>`,
        html`${playbook}`,
        html`${writeTime(openedAt)}`,
        html`${principal}`,
        html`${status}${enforced ? null : html` <span class="bad">observed only</span>`}`,
      ]),
    )}
    <p class="quiet">
      Made from the journal in this archive. <code>lockstep verify</code> says what it proves.
    </p>`
  return writePage(title, body)
}

function table(head: readonly string[], rows: readonly (readonly Html[])[]): Html | null {
  if (rows.length === 0) return null
  const left = rows.length - most
  return html`<table>
      <thead>
        <tr>
          ${head.map((each) => html`<th>${each}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, most).map(
          (row) =>
            html`<tr>
              ${row.map((cell) => html`<td>${cell}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
    ${left > 0 ? html`<p>and ${left} more in the CSV file</p>` : null}`
}

function counted(exceptions: readonly AuditException[]): string {
  return exceptionKinds
    .map((kind) => [kind, exceptions.filter((each) => each.kind === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} × ${kind.replaceAll('_', ' ')}`)
    .join(', ')
}
