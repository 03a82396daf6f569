import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { TextArea } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask } from '../../server/ask.ts'
import { useMay } from '../../server/me.ts'

const answers = {
  succeeded: {
    label: 'It was applied',
    about: 'The call counts as made, without a result, and the run goes on after it.',
  },
  failed: {
    label: 'It was not applied',
    about: 'The call counts as failed. It is tried again if the playbook says so; otherwise its step fails.',
  },
} as const

type Outcome = keyof typeof answers

/** Asks whoever may steer runs what became of a call that nobody knows the outcome of; a reason is required. */
export function SettleCall({ run, call }: { run: string; call: string }) {
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const may = useMay('run:control')
  return (
    <div className="flex flex-wrap items-center gap-2 px-9 pb-2 text-sm">
      <span className="min-w-0 grow text-muted">
        Nobody knows what became of it. Look at what it acts on, then say so: the run waits for it.
      </span>
      {may &&
        (['succeeded', 'failed'] as const).map((each) => (
          <Button key={each} onClick={() => setOutcome(each)}>
            {answers[each].label}
          </Button>
        ))}
      {outcome !== null && (
        <SettleDialog run={run} call={call} outcome={outcome} onClose={() => setOutcome(null)} />
      )}
    </div>
  )
}

function SettleDialog({
  run,
  call,
  outcome,
  onClose,
}: {
  run: string
  call: string
  outcome: Outcome
  onClose: () => void
}) {
  const [reason, setReason] = useState('')
  const queries = useQueryClient()
  const { label, about } = answers[outcome]
  const send = useMutation({
    mutationFn: () =>
      ask('POST /runs/{id}/calls/{call}/settle', {
        params: { id: run, call },
        body: { outcome, reason: reason.trim() },
      }),
    onSuccess: async () => {
      toast('The run goes on.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={label} description={about}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        {send.error !== null && <Problem error={send.error} />}
        <TextArea
          label="Reason"
          hint="How you know. It is kept in the record, with your name."
          required
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Leave it</Button>
          <Button look="main" type="submit" busy={send.isPending} disabled={reason.trim() === ''}>
            {label}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
