import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Card } from '../../component/card.tsx'
import { CopyButton } from '../../component/copy-button.tsx'
import { Empty } from '../../component/empty.tsx'
import { Select, TextArea, TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { readJsonObject } from '../policies/read-json-object.ts'
import { ModeBadge } from '../runs/run-table.tsx'
import { ConfirmButton } from './confirm-button.tsx'
import { ShownOnce } from './shown-once.tsx'
import { useChange } from './use-change.ts'

type Hook = ItemOf<'GET /hooks'>
const stale = [['hooks']] as const

/** What other systems may begin. */
export function IncomingHooks() {
  const mayWrite = useMay('webhook:write')
  const [secret, setSecret] = useState<string | null>(null)
  const query = useQuery({
    queryKey: ['hooks'],
    queryFn: ({ signal }) => ask('GET /hooks', { query: { limit: 200 }, signal }),
  })
  const remove = useChange((id: string) => ask('DELETE /hooks/{id}', { params: { id } }), {
    said: 'It can begin nothing any more.',
    stale,
  })
  const columns: readonly Column<Hook>[] = [
    {
      id: 'name',
      label: 'Hook',
      cell: ({ name, url }) => (
        <span>
          {name}
          <span className="flex items-center text-xs text-muted">
            <code className="break-all">{url}</code>
            <CopyButton text={url} label="the address" />
          </span>
        </span>
      ),
    },
    { id: 'kind', label: 'From', cell: ({ kind }) => kind },
    {
      id: 'runbook',
      label: 'Begins',
      cell: ({ runbook, mode }) => (
        <span>
          {runbook} <ModeBadge mode={mode} />
        </span>
      ),
    },
    {
      id: 'remove',
      label: 'Remove',
      align: 'end',
      cell: ({ id, name }) =>
        mayWrite ? (
          <ConfirmButton
            label="Remove"
            title={`Remove ${name}?`}
            about="What comes to its address is refused."
            busy={remove.isPending}
            onConfirm={() => remove.mutate(id)}
          />
        ) : null,
    },
  ]
  return (
    <Card title="Incoming">
      <div className="flex flex-col gap-3">
        {mayWrite && <NewHook onMade={setSecret} />}
        {remove.error !== null && <Problem error={remove.error} />}
        <Loaded query={query} lines={2}>
          {({ items }) => (
            <Table
              label="Incoming hooks"
              rows={items}
              columns={columns}
              keyOf={({ id }) => id}
              empty={
                <Empty icon="right" title="Nothing comes in">
                  Let an alert begin a playbook: Alertmanager, PagerDuty, or any system that can sign what it
                  sends.
                </Empty>
              }
            />
          )}
        </Loaded>
      </div>
      {secret !== null && (
        <ShownOnce
          title="The secret of the hook"
          about="The other system signs what it sends with it. It is shown this once."
          value={secret}
          onDone={() => setSecret(null)}
        />
      )}
    </Card>
  )
}

function NewHook({ onMade }: { onMade: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Hook['kind']>('generic')
  const [runbook, setRunbook] = useState('')
  const [mode, setMode] = useState<Hook['mode']>('dry-run')
  const [inputs, setInputs] = useState('{}')
  const read = readJsonObject(inputs)
  const playbooks = useQuery({
    queryKey: ['playbooks', 'names'],
    queryFn: ({ signal }) => ask('GET /runbooks', { query: { limit: 200 }, signal }),
  })
  const make = useChange(
    () =>
      ask('POST /hooks', {
        body: {
          name,
          kind,
          runbook,
          mode,
          inputs: Object.fromEntries(Object.entries(read ?? {}).map(([key, value]) => [key, String(value)])),
        },
      }),
    {
      stale,
      done: ({ secret }) => {
        setName('')
        onMade(secret)
      },
    },
  )
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
        <Select
          label="From"
          value={kind}
          onChange={setKind}
          options={[
            { value: 'generic', label: 'any system' },
            { value: 'alertmanager', label: 'Alertmanager' },
            { value: 'pagerduty', label: 'PagerDuty' },
          ]}
        />
        <Select
          label="Begins"
          value={runbook}
          required
          onChange={setRunbook}
          options={[
            { value: '', label: 'choose …' },
            ...(playbooks.data?.items ?? []).map((each) => ({ value: each.id, label: each.name })),
          ]}
        />
        <Select
          label="Mode"
          value={mode}
          onChange={setMode}
          options={[
            { value: 'dry-run', label: 'dry run' },
            { value: 'execute', label: 'execute' },
          ]}
        />
        <Button type="submit" icon="plus" busy={make.isPending} disabled={runbook === '' || read === null}>
          Add hook
        </Button>
      </div>
      <TextArea
        label="Inputs"
        hint='An expression over what comes in for each input, as JSON: {"node": "body.labels.node"}'
        value={inputs}
        rows={2}
        className="font-mono"
        error={read === null ? 'must be a JSON object' : null}
        onChange={(event) => setInputs(event.target.value)}
      />
      {make.error !== null && <Problem error={make.error} />}
    </form>
  )
}
