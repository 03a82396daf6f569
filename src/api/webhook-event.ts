/** What webhooks can be told of. */
export const webhookEvents = [
  'approval.pending',
  'approval.decided',
  'approval.expired',
  'run.finished',
] as const
