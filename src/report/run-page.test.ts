import { expect, test } from 'vitest'
import type { AuditRun } from './audit-run.ts'
import { writeRunPage } from './run-page.ts'

const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(1)>"\'\u202e\u0000'

const run: AuditRun = {
  run: 'r_1',
  tenant: hostile,
  principal: hostile,
  playbook: hostile,
  digest: hostile,
  openedAt: 1_000,
  closedAt: 3_500,
  status: hostile,
  enforced: false,
  dryRun: false,
  inputs: { [hostile]: hostile },
  head: null,
  halted: new Map(),
  entries: [
    'run.started',
    'model.answered',
    'tool.admitted',
    'tool.held',
    'tool.denied',
    'tool.settled',
    'approval.voted',
    'message.sent',
    'message.received',
    'step.failed',
    'cancel.requested',
    'compensation.begun',
    'run.finished',
  ].map((type, index) => ({
    seq: index + 1,
    at: 1_000 + index,
    principal: hostile,
    type,
    withheld: index % 2 === 0,
    data: {
      callId: 'c1',
      tool: hostile,
      args: { [hostile]: hostile },
      step: hostile,
      message: hostile,
      text: hostile,
      by: 'model',
      code: hostile,
      result: [hostile],
      error: hostile,
      reason: hostile,
      outcome: hostile,
      status: hostile,
      limit: 'timeout_seconds',
      comesTo: hostile,
      vote: {
        person: hostile,
        identity: 'asserted',
        roles: [hostile],
        answer: 'deny',
        reason: hostile,
        at: 1_001,
      },
      policy: { decision: { rule: hostile, policy: { id: hostile, version: hostile }, reason: hostile } },
    },
  })),
}

test('a page is nothing but text and its own marks, whatever the record says', () => {
  const page = writeRunPage(run)
  const tags = new Set(
    page.match(/<[a-z!/][^>]*/gi)!.map((tag) => tag.replace(/^<\/?([a-z0-9!]+).*$/is, '$1')),
  )
  expect([...tags].toSorted()).toEqual([
    '!doctype',
    'body',
    'code',
    'dd',
    'div',
    'dl',
    'dt',
    'h1',
    'h2',
    'h3',
    'head',
    'html',
    'li',
    'meta',
    'p',
    'pre',
    'span',
    'strong',
    'style',
    'table',
    'tbody',
    'td',
    'th',
    'thead',
    'title',
    'tr',
    'ul',
  ])
  expect(page).not.toMatch(/<script|onerror=alert\(1\)>/)
  for (const hidden of ['\u0000', '\u202e']) expect(page).not.toContain(hidden)
  expect(page).toContain("default-src 'none'")
  expect(page.match(/class="model"/g)!.length).toBe(2)
  expect(page).toMatch(/asserted, nobody checked/)
  expect(page).toMatch(/observed, not enforced/)
})
