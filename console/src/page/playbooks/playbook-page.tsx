import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useBlocker } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Empty } from '../../component/empty.tsx'
import { TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Tabs } from '../../component/tabs.tsx'
import { Time } from '../../component/time.tsx'
import { toast } from '../../component/toast.tsx'
import { ask, failedWith, type Answer } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { Page } from '../../shell/page.tsx'
import { RunTable } from '../runs/run-table.tsx'
import { PlaybookMenu } from './playbook-menu.tsx'
import { Version } from './playbooks-page.tsx'
import { StartRunDialog } from './start-run-dialog.tsx'
import { VersionsPanel } from './versions-panel.tsx'
import { useChecked, Workbench } from './workbench.tsx'

const route = getRouteApi('/shell/playbooks/$id')
type Playbook = Answer<'GET /runbooks/{id}'>

/** A playbook: its text, its versions, its runs. */
export function PlaybookPage() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['playbooks', 'one', id],
    queryFn: ({ signal }) => ask('GET /runbooks/{id}', { params: { id }, signal }),
    // What somebody writes is not replaced under their hands.
    refetchOnWindowFocus: false,
  })
  return query.data === undefined ? (
    <Page title="Playbook">
      <Loaded query={query} lines={10}>
        {() => null}
      </Loaded>
    </Page>
  ) : (
    <OnePlaybook key={id} playbook={query.data} />
  )
}

function OnePlaybook({ playbook }: { playbook: Playbook }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [starting, setStarting] = useState(false)
  const [text, setText] = useState(playbook.text)
  const mayStart = useMay('run:start')
  const mayWrite = useMay('runbook:write')
  const editable = mayWrite && playbook.origin.kind === 'console' && !playbook.archived
  const tab = search.tab === 'versions' || search.tab === 'runs' ? search.tab : 'text'
  const show = (next: typeof tab) =>
    void navigate({ search: next === 'text' ? {} : { tab: next }, replace: true })
  const dirty = text !== playbook.text
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      dirty &&
      current.pathname !== next.pathname &&
      !globalThis.confirm('Leave without publishing? The changes are lost.'),
    enableBeforeUnload: () => dirty,
  })
  return (
    <Page
      title={playbook.name}
      note={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span>
            Version <Version of={playbook} />
          </span>
          <span>
            {playbook.updatedBy} · <Time at={playbook.updatedAt} />
          </span>
          {playbook.archived && <Badge tone="still">archived: no run can be begun</Badge>}
          {playbook.origin.kind === 'git' && <Badge tone="info">read only: it is changed in Git</Badge>}
        </span>
      }
      actions={
        <>
          {mayWrite && <PlaybookMenu playbook={playbook} />}
          {mayStart && !playbook.archived && (
            <Button look="main" icon="run" onClick={() => setStarting(true)}>
              Start a run
            </Button>
          )}
        </>
      }
    >
      {playbook.description !== '' && <p className="mb-3 max-w-3xl text-sm">{playbook.description}</p>}
      <Tabs
        label="Playbook"
        value={tab}
        onChange={show}
        tabs={[
          {
            value: 'text',
            label: 'Text',
            content: <Editor playbook={playbook} text={text} onChange={setText} editable={editable} />,
          },
          {
            value: 'versions',
            label: 'Versions',
            content: (
              <VersionsPanel
                kind="runbooks"
                id={playbook.id}
                newest={playbook.version}
                {...(editable
                  ? {
                      onTake: (taken: string) => {
                        setText(taken)
                        show('text')
                      },
                    }
                  : {})}
              />
            ),
          },
          { value: 'runs', label: 'Runs', content: <Runs id={playbook.id} /> },
        ]}
      />
      {starting && <StartRunDialog playbook={playbook} onClose={() => setStarting(false)} />}
    </Page>
  )
}

function Editor({
  playbook,
  text,
  onChange,
  editable,
}: {
  playbook: Playbook
  text: string
  onChange: (text: string) => void
  editable: boolean
}) {
  const [note, setNote] = useState('')
  const checked = useChecked(text, playbook.format)
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: () =>
      ask('PUT /runbooks/{id}', {
        params: { id: playbook.id },
        body: {
          name: playbook.name,
          text,
          format: playbook.format,
          ...(note.trim() === '' ? {} : { note: note.trim() }),
        },
        match: playbook.version,
      }),
    onSuccess: async (saved) => {
      toast(`Version ${saved.version} is published.`)
      setNote('')
      queries.setQueryData(['playbooks', 'one', playbook.id], saved)
      await queries.invalidateQueries({ queryKey: ['playbooks', 'list'] })
      await queries.invalidateQueries({ queryKey: ['runbooks'] })
    },
  })
  const dirty = text !== playbook.text
  const wrong = checked.findings.some(({ severity }) => severity === 'error')
  return (
    <>
      {save.error !== null && (
        <div className="mb-3 flex flex-col gap-2">
          <Problem error={save.error} />
          {failedWith(save.error, 'version_conflict') && (
            <p className="text-sm">
              Somebody published another version meanwhile. Your text is still here: look at{' '}
              <strong>Versions</strong>, put both together, and{' '}
              <Button
                small
                onClick={() =>
                  void queries.invalidateQueries({ queryKey: ['playbooks', 'one', playbook.id] })
                }
              >
                take the newest version as the base
              </Button>
            </p>
          )}
        </div>
      )}
      <Workbench
        text={text}
        format={playbook.format}
        readOnly={!editable}
        checked={checked}
        onChange={onChange}
      />
      {editable && (
        <form
          className="mt-3 flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate()
          }}
        >
          <div className="w-80 grow sm:grow-0">
            <TextField
              label="What changed"
              hideLabel
              placeholder="What changed, in a few words"
              value={note}
              maxLength={500}
              onChange={(event) => setNote(event.target.value)}
            />
          </div>
          <Button
            type="submit"
            look="main"
            icon="check"
            busy={save.isPending}
            disabled={!dirty || wrong || !checked.settled}
          >
            Publish version {playbook.version + 1}
          </Button>
          {dirty && (
            <Button look="quiet" onClick={() => onChange(playbook.text)}>
              Undo all changes
            </Button>
          )}
        </form>
      )}
    </>
  )
}

function Runs({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['runs', 'of', id],
    queryFn: ({ signal }) => ask('GET /runs', { query: { runbook: id, limit: 50 }, signal }),
    refetchInterval: 5000,
  })
  return (
    <Loaded query={query} lines={4}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="run" title="It has not run yet">
            Start it above: a dry run changes nothing.
          </Empty>
        ) : (
          <RunTable runs={items} />
        )
      }
    </Loaded>
  )
}
