import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask } from '../../server/ask.ts'
import { Page } from '../../shell/page.tsx'
import { policyTemplate } from './policy-template.ts'
import { PolicyEditor, useCheckedPolicy } from './policy-editor.tsx'
import { scopeBody, ScopeFields, type Scope } from './scope-fields.tsx'

/** Where a policy is written. */
export function NewPolicyPage() {
  const [name, setName] = useState('')
  const [text, setText] = useState(policyTemplate)
  const [scope, setScope] = useState<Scope>({ appliesTo: 'tenant', runbook: '' })
  const { findings, settled } = useCheckedPolicy(text)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const save = useMutation({
    mutationFn: () => ask('POST /policies', { body: { name, text, ...scopeBody(scope) } }),
    onSuccess: async (made) => {
      toast(`${made.name} is in force.`)
      await queries.invalidateQueries({ queryKey: ['policies'] })
      await navigate({ to: '/policies/$id', params: { id: made.id }, ignoreBlocker: true })
    },
  })
  const untouched = text === policyTemplate && name === ''
  useBlocker({
    shouldBlockFn: () =>
      !untouched && !save.isSuccess && !globalThis.confirm('Leave without publishing? The text is lost.'),
    enableBeforeUnload: () => !untouched && !save.isSuccess,
  })
  const wrong = name.trim() === '' || findings.some(({ severity }) => severity === 'error')
  return (
    <Page
      title="New policy"
      note="What you publish is in force at once, also for runs that have begun."
      actions={
        <Button
          look="main"
          icon="check"
          busy={save.isPending}
          disabled={wrong || !settled}
          onClick={() => save.mutate()}
        >
          Publish
        </Button>
      }
    >
      {save.error !== null && (
        <div className="mb-3">
          <Problem error={save.error} />
        </div>
      )}
      <div className="mb-3 w-72 max-w-full">
        <TextField
          label="Name"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <ScopeFields scope={scope} onChange={setScope} />
      <PolicyEditor text={text} readOnly={false} findings={findings} settled={settled} onChange={setText} />
    </Page>
  )
}
