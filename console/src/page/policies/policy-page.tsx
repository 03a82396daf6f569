import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { Problem } from '../../component/problem.tsx'
import { Tabs } from '../../component/tabs.tsx'
import { Time } from '../../component/time.tsx'
import { toast } from '../../component/toast.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { Page } from '../../shell/page.tsx'
import { Version } from '../playbooks/playbooks-page.tsx'
import { VersionsPanel } from '../playbooks/versions-panel.tsx'
import { PolicyEditor, useCheckedPolicy } from './policy-editor.tsx'
import { scopeBody, ScopeFields, type Scope } from './scope-fields.tsx'

const route = getRouteApi('/shell/policies/$id')
type Policy = Answer<'GET /policies/{id}'>

/** A policy: its text, test cases and versions. */
export function PolicyPage() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['policies', 'one', id],
    queryFn: ({ signal }) => ask('GET /policies/{id}', { params: { id }, signal }),
    refetchOnWindowFocus: false,
  })
  return query.data === undefined ? (
    <Page title="Policy">
      <Loaded query={query} lines={10}>
        {() => null}
      </Loaded>
    </Page>
  ) : (
    <OnePolicy key={id} policy={query.data} />
  )
}

function OnePolicy({ policy }: { policy: Policy }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [text, setText] = useState(policy.text)
  const [scope, setScope] = useState<Scope>({ appliesTo: policy.appliesTo, runbook: policy.runbook ?? '' })
  const [deleting, setDeleting] = useState(false)
  const { findings, settled } = useCheckedPolicy(text)
  const queries = useQueryClient()
  const editable = useMay('policy:write') && policy.origin.kind === 'console'
  const dirty =
    text !== policy.text || scope.appliesTo !== policy.appliesTo || scope.runbook !== (policy.runbook ?? '')
  const wrong = findings.some(({ severity }) => severity === 'error')
  const tab = search.tab === 'versions' ? 'versions' : 'text'
  const save = useMutation({
    mutationFn: () =>
      ask('PUT /policies/{id}', {
        params: { id: policy.id },
        body: { name: policy.name, text, ...scopeBody(scope) },
        match: policy.version,
      }),
    onSuccess: async (saved) => {
      toast(`Version ${saved.version} is in force.`)
      queries.setQueryData(['policies', 'one', policy.id], saved)
      await queries.invalidateQueries({ queryKey: ['policies'] })
    },
  })
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      dirty &&
      current.pathname !== next.pathname &&
      !globalThis.confirm('Leave without publishing? The changes are lost.'),
    enableBeforeUnload: () => dirty,
  })
  return (
    <Page
      title={policy.name}
      note={
        <span className="flex flex-wrap items-center gap-x-3">
          <span>
            Version <Version of={policy} />
          </span>
          <span>
            {policy.updatedBy} · <Time at={policy.updatedAt} />
          </span>
          {policy.origin.kind === 'git' && <Badge tone="info">read only: it is changed in Git</Badge>}
        </span>
      }
      actions={
        editable ? (
          <>
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Button
              look="main"
              icon="check"
              busy={save.isPending}
              disabled={!dirty || wrong || !settled}
              onClick={() => save.mutate()}
            >
              Publish version {policy.version + 1}
            </Button>
          </>
        ) : undefined
      }
    >
      {save.error !== null && (
        <div className="mb-3">
          <Problem error={save.error} />
        </div>
      )}
      {editable && <ScopeFields scope={scope} onChange={setScope} />}
      <Tabs
        label="Policy"
        value={tab}
        onChange={(next) => void navigate({ search: next === 'text' ? {} : { tab: next }, replace: true })}
        tabs={[
          {
            value: 'text',
            label: 'Text and test cases',
            content: (
              <PolicyEditor
                text={text}
                readOnly={!editable}
                findings={findings}
                settled={settled}
                onChange={setText}
              />
            ),
          },
          {
            value: 'versions',
            label: 'Versions',
            content: <VersionsPanel kind="policies" id={policy.id} newest={policy.version} />,
          },
        ]}
      />
      {deleting && <Delete policy={policy} onClose={() => setDeleting(false)} />}
    </Page>
  )
}

function Delete({ policy, onClose }: { policy: Policy; onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => ask('DELETE /policies/{id}', { params: { id: policy.id }, match: policy.version }),
    onSuccess: async () => {
      toast(`${policy.name} is deleted.`)
      await navigate({ to: '/policies' })
      await queries.invalidateQueries({ queryKey: ['policies'] })
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${policy.name}?`}
      description="It is asked no more, also not for runs that have begun. The record keeps every version."
    >
      {remove.error !== null && <Problem error={remove.error} />}
      <DialogActions>
        <Button onClick={onClose}>Keep it</Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </DialogActions>
    </Dialog>
  )
}
