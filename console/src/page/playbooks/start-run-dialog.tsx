import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { Select } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import { InputFields } from './input-fields.tsx'
import { readFields, type FieldValues } from './read-fields.ts'

type Playbook = Answer<'GET /runbooks/{id}'>
type Mode = 'dry-run' | 'execute'

/** Asks for the inputs of a playbook and begins a run of it. A dry run is what is offered first: it changes nothing. */
export function StartRunDialog({ playbook, onClose }: { playbook: Playbook; onClose: () => void }) {
  const [mode, setMode] = useState<Mode>('dry-run')
  const [values, setValues] = useState<FieldValues>({})
  const [tried, setTried] = useState(false)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { inputs, problems } = readFields(playbook.reading.inputs, values)
  // One key for one dialog: a second click, or a lost answer, begins no second run.
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const start = useMutation({
    mutationFn: () =>
      ask('POST /runs', {
        body: { runbook: playbook.id, version: playbook.version, mode, inputs },
        idempotencyKey,
      }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['runs'] })
      await navigate({ to: '/runs/$id', params: { id } })
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Start ${playbook.name}`}
      description={`Version ${playbook.version}. The run keeps this version, whatever is published later.`}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setTried(true)
          if (Object.keys(problems).length === 0) start.mutate()
        }}
        className="flex flex-col gap-3"
      >
        <InputFields
          schema={playbook.reading.inputs}
          values={values}
          problems={tried ? problems : {}}
          onChange={setValues}
        />
        <Select
          label="Mode"
          value={mode}
          onChange={setMode}
          options={[
            { value: 'dry-run', label: 'Dry run: shows every call, makes none' },
            { value: 'execute', label: 'Execute: makes the calls' },
          ]}
          hint={
            mode === 'execute'
              ? 'Calls are made for real. Policies and approvals decide each of them.'
              : 'Nothing is changed.'
          }
        />
        {start.error !== null && <Problem error={start.error} />}
        <DialogActions>
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look="main" icon="run" busy={start.isPending}>
            {mode === 'execute' ? 'Start' : 'Start dry run'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
