import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Select } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask } from '../../server/ask.ts'
import { Page } from '../../shell/page.tsx'
import { templates, type TemplateName } from './template.ts'
import { useChecked, Workbench } from './workbench.tsx'

/** Where a playbook is written. */
export function NewPlaybookPage() {
  const [template, setTemplate] = useState<TemplateName>('runbook')
  const [text, setText] = useState<string>(templates.runbook.text)
  const { format } = templates[template]
  const checked = useChecked(text, format)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const untouched = text === templates[template].text
  const save = useMutation({
    mutationFn: () => ask('POST /runbooks', { body: { text, format } }),
    onSuccess: async (made) => {
      toast(`${made.name} is published.`)
      await queries.invalidateQueries({ queryKey: ['playbooks'] })
      await navigate({ to: '/playbooks/$id', params: { id: made.id }, ignoreBlocker: true })
    },
  })
  useBlocker({
    shouldBlockFn: () =>
      !untouched && !save.isSuccess && !globalThis.confirm('Leave without publishing? The text is lost.'),
    enableBeforeUnload: () => !untouched && !save.isSuccess,
  })
  const wrong = checked.findings.some(({ severity }) => severity === 'error')
  const change = (next: TemplateName) => {
    if (!untouched && !globalThis.confirm('Begin anew? The text is lost.')) return
    setTemplate(next)
    setText(templates[next].text)
  }
  return (
    <Page
      title="New playbook"
      note="What you publish is version 1. Runs keep the version they were begun with."
      actions={
        <>
          <Select
            label="Form"
            hideLabel
            value={template}
            onChange={change}
            options={Object.entries(templates).map(([value, { label }]) => ({
              value: value as TemplateName,
              label,
            }))}
          />
          <Button
            look="main"
            icon="check"
            busy={save.isPending}
            disabled={wrong || !checked.settled}
            onClick={() => save.mutate()}
          >
            Publish
          </Button>
        </>
      }
    >
      {save.error !== null && (
        <div className="mb-3">
          <Problem error={save.error} />
        </div>
      )}
      <Workbench text={text} format={format} readOnly={false} checked={checked} onChange={setText} />
    </Page>
  )
}
