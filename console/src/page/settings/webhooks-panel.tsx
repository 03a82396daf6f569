import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { webhookEvents } from '../../../../src/api/webhook-event.ts'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Card } from '../../component/card.tsx'
import { Dialog } from '../../component/dialog.tsx'
import { Empty } from '../../component/empty.tsx'
import { Checkbox, Select, TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { IncomingHooks } from './incoming-hooks.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

type Webhook = ItemOf<'GET /webhooks'>
type Event = Webhook['events'][number]
const stale = [['webhooks']] as const

/** What is sent to other systems, and what they may begin. */
export function WebhooksPanel() {
  return (
    <div className="flex flex-col gap-4">
      <Outgoing />
      <IncomingHooks />
    </div>
  )
}

function Outgoing() {
  const mayWrite = useMay('webhook:write')
  const [secret, setSecret] = useState<string | null>(null)
  const [watched, setWatched] = useState<Webhook | null>(null)
  const query = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => ask('GET /webhooks', { query: { limit: 200 }, signal }),
  })
  const change = useChange(
    ({ id, active }: Pick<Webhook, 'id' | 'active'>) =>
      ask('PATCH /webhooks/{id}', { params: { id }, body: { active } }),
    { said: 'Saved.', stale },
  )
  const remove = useChange((id: string) => ask('DELETE /webhooks/{id}', { params: { id } }), {
    said: 'Nothing is sent there any more.',
    stale,
  })
  const columns: readonly Column<Webhook>[] = [
    {
      id: 'name',
      label: 'Webhook',
      cell: ({ name, url, active }) => (
        <span className="break-all">
          {name} {!active && <Badge tone="still">off</Badge>}{' '}
          <span className="block text-xs text-muted">{url}</span>
        </span>
      ),
    },
    {
      id: 'events',
      label: 'Events',
      wide: true,
      cell: ({ events, template }) => `${events.join(', ')} · ${template}`,
    },
    {
      id: 'acts',
      label: 'Change',
      align: 'end',
      cell: (webhook) => (
        <span className="inline-flex flex-wrap justify-end gap-1">
          <Button small look="quiet" onClick={() => setWatched(webhook)}>
            Deliveries
          </Button>
          {mayWrite && (
            <>
              <Button
                small
                look="quiet"
                busy={change.isPending}
                onClick={() => change.mutate({ id: webhook.id, active: !webhook.active })}
              >
                {webhook.active ? 'Turn off' : 'Turn on'}
              </Button>
              <ConfirmButton
                label="Remove"
                title={`Remove ${webhook.name}?`}
                about="Nothing is sent there any more."
                busy={remove.isPending}
                onConfirm={() => remove.mutate(webhook.id)}
              />
            </>
          )}
        </span>
      ),
    },
  ]
  return (
    <Card title="Outgoing">
      <div className="flex flex-col gap-3">
        {mayWrite && <NewWebhook onMade={setSecret} />}
        {(change.error ?? remove.error) !== null && <Problem error={change.error ?? remove.error} />}
        <Loaded query={query} lines={3}>
          {({ items }) => (
            <Table
              label="Webhooks"
              rows={items}
              columns={columns}
              keyOf={({ id }) => id}
              empty={
                <Empty icon="right" title="Nothing is sent">
                  Send approvals that wait, and runs that end, to a chat or another system.
                </Empty>
              }
            />
          )}
        </Loaded>
      </div>
      {secret !== null && (
        <ShownOnce
          title="The secret of the webhook"
          about="What is sent is signed with it. It is shown this once."
          value={secret}
          onDone={() => setSecret(null)}
        />
      )}
      {watched !== null && <Deliveries webhook={watched} onClose={() => setWatched(null)} />}
    </Card>
  )
}

function NewWebhook({ onMade }: { onMade: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [template, setTemplate] = useState<'json' | 'slack'>('json')
  const [events, setEvents] = useState<readonly Event[]>(['approval.pending'])
  const make = useChange(
    () => ask('POST /webhooks', { body: { name, url, template, events: [...events] } }),
    {
      stale,
      done: ({ secret }) => {
        setName('')
        setUrl('')
        onMade(secret)
      },
    },
  )
  const toggle = (event: Event) =>
    setEvents(events.includes(event) ? events.filter((each) => each !== event) : [...events, event])
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        make.mutate(undefined)
      }}
    >
      <div className="flex flex-wrap items-end gap-2">
        <div className="w-48">
          <TextField
            label="Name"
            value={name}
            required
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="w-80 max-w-full">
          <TextField
            label="Address"
            type="url"
            value={url}
            required
            placeholder="https://…"
            onChange={(event) => setUrl(event.target.value)}
          />
        </div>
        <Select
          label="Body"
          value={template}
          onChange={setTemplate}
          options={[
            { value: 'json', label: 'JSON' },
            { value: 'slack', label: 'for Slack' },
          ]}
        />
        <Button type="submit" icon="plus" busy={make.isPending} disabled={events.length === 0}>
          Add webhook
        </Button>
      </div>
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="sr-only">Events</legend>
        {webhookEvents.map((event) => (
          <Checkbox
            key={event}
            label={event}
            checked={events.includes(event)}
            onChange={() => toggle(event)}
          />
        ))}
      </fieldset>
      {make.error !== null && <Problem error={make.error} />}
    </form>
  )
}

type Delivery = ItemOf<'GET /webhooks/{id}/deliveries'>
const tones = { delivered: 'ok', pending: 'warn', failed: 'bad' } as const

const deliveryColumns: readonly Column<Delivery>[] = [
  { id: 'at', label: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'event',
    label: 'Event',
    cell: ({ event, subject }) => (
      <span>
        {event} <code className="text-xs">{subject}</code>
      </span>
    ),
  },
  {
    id: 'state',
    label: 'State',
    cell: ({ state, status, error }) => (
      <span>
        <Badge tone={tones[state]}>{state}</Badge> {status ?? ''}{' '}
        {error !== null && <span className="block text-xs text-muted">{error}</span>}
      </span>
    ),
  },
  {
    id: 'tries',
    label: 'Tries',
    align: 'end',
    cell: ({ attempts, nextAt }) => (
      <span>
        {attempts}
        {nextAt !== null && (
          <>
            {' '}
            · next <Time at={nextAt} />
          </>
        )}
      </span>
    ),
  },
]

function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const mayWrite = useMay('webhook:write')
  const query = useQuery({
    queryKey: ['webhooks', 'deliveries', webhook.id],
    queryFn: ({ signal }) =>
      ask('GET /webhooks/{id}/deliveries', { params: { id: webhook.id }, query: { limit: 100 }, signal }),
    refetchInterval: 3000,
  })
  const test = useChange(() => ask('POST /webhooks/{id}/test', { params: { id: webhook.id } }), {
    said: 'A trial event is on its way.',
    stale,
  })
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => !open && onClose()}
      title={`Deliveries to ${webhook.name}`}
      description={webhook.url}
    >
      {mayWrite && (
        <div className="mb-3">
          <Button small busy={test.isPending} onClick={() => test.mutate(undefined)}>
            Send a trial event
          </Button>
        </div>
      )}
      {test.error !== null && <Problem error={test.error} />}
      <Loaded query={query} lines={4}>
        {({ items }) => (
          <Table
            label="Deliveries"
            rows={items}
            columns={deliveryColumns}
            keyOf={({ id }) => id}
            empty={<p className="text-sm text-muted">Nothing was sent yet.</p>}
          />
        )}
      </Loaded>
    </Dialog>
  )
}
