import type { WebhookEvent } from './event.ts'

/** How a body is written: everything as JSON, or as a message that Slack and what speaks its language takes. */
export type BodyTemplate = 'json' | 'slack'

/** What a body says besides the event. */
export interface BodyContext {
  readonly tenant: string
  /** What people call the run's playbook; null where nobody knows. */
  readonly playbook: string | null
  readonly project: string | null
  /** Where people reach the server. */
  readonly url: string
}

/** The body that is sent for an event. */
export function eventBody(event: WebhookEvent, template: BodyTemplate, context: BodyContext): string {
  const link = linkOf(event, context.url)
  if (template === 'slack') return JSON.stringify(slackBody(event, context, link))
  const { id, type, at, data } = event
  const { tenant, playbook, project } = context
  return JSON.stringify({
    id,
    type,
    at: new Date(at).toISOString(),
    tenant,
    project,
    playbook,
    url: link,
    data,
  })
}

/** The page of the console that it is about. */
function linkOf({ type, subject, run }: WebhookEvent, url: string): string {
  if (run === null) return `${url}/console/`
  const page = type === 'run.finished' ? 'runs' : 'approvals'
  return `${url}/console/${page}/${encodeURIComponent(subject)}`
}

function slackBody(event: WebhookEvent, context: BodyContext, link: string): object {
  const text = sentenceOf(event, context.playbook)
  const label = event.type === 'approval.pending' ? 'Look and decide' : 'Look'
  return {
    text: slackText(text),
    blocks: [
      {
        type: 'section',
        text: { type: 'mrkdwn', text: cut(`*${slackText(text)}*\n${slackText(detailsOf(event))}`, 3000) },
      },
      {
        type: 'actions',
        elements: [{ type: 'button', text: { type: 'plain_text', text: label }, url: link }],
      },
    ],
  }
}

function sentenceOf({ type, data, subject }: WebhookEvent, playbook: string | null): string {
  const of = playbook === null ? '' : ` of ${playbook}`
  switch (type) {
    case 'approval.pending':
      return `${String(data['tool'])}${of} waits for approval`
    case 'approval.decided':
      return `${String(data['tool'])}${of} was ${String(data['state'])} by ${String(data['decidedBy'])}`
    case 'approval.expired':
      return `Nobody decided on ${String(data['tool'])}${of} in time`
    case 'run.finished':
      return `Run ${subject}${of} ended: ${String(data['status'])}`
    case 'test':
      return String(data['message'])
  }
}

function detailsOf({ type, data }: WebhookEvent): string {
  if (type === 'run.finished') return data['reason'] === null ? '' : String(data['reason'])
  if (type === 'test') return ''
  const call = `${String(data['tool'])} ${cut(JSON.stringify(data['args']), 1000)}`
  return [
    call,
    String(data['reason']),
    `Asked by ${String(data['askedBy'])}; until ${String(data['expiresAt'])}`,
  ].join('\n')
}

/** Slack reads these three as markup. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
