import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { TextArea } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask, type Answer } from '../../server/ask.ts'

export type Approval = Answer<'GET /approvals/{id}'>
export type Decision = 'approve' | 'deny'

/** Asks once more, and takes the reason that a denial needs. */
export function DecideDialog({
  approval,
  decision,
  onClose,
}: {
  approval: Approval
  decision: Decision
  onClose: () => void
}) {
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const queries = useQueryClient()
  const denies = decision === 'deny'
  const { id } = approval
  const decide = useMutation({
    mutationFn: () =>
      denies
        ? ask('POST /approvals/{id}/deny', { params: { id }, body: { reason: reason.trim() } })
        : ask('POST /approvals/{id}/approve', {
            params: { id },
            body: reason.trim() === '' ? {} : { reason: reason.trim() },
          }),
    onSuccess: async (answer) => {
      queries.setQueryData(['approvals', 'one', id], answer)
      toast(
        denies
          ? 'Denied.'
          : answer.state === 'waiting'
            ? 'Your approval counts; others are missing.'
            : 'Approved.',
      )
      onClose()
      await queries.invalidateQueries({ queryKey: ['approvals'] })
      await queries.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={denies ? 'Deny this call' : 'Approve this call'}
      description={
        <>
          <code>{approval.tool}</code> in {approval.runbook}.{' '}
          {denies ? 'The call is not made.' : 'It may be made once, with exactly these arguments.'}
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setMissing(denies && reason.trim() === '')
          if (!denies || reason.trim() !== '') decide.mutate()
        }}
      >
        {decide.error !== null && <Problem error={decide.error} />}
        <TextArea
          label={denies ? 'Reason' : 'Reason (optional)'}
          hint="It is kept in the record, and shown to whoever asked."
          error={missing ? 'A denial needs a reason.' : null}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Back</Button>
          <Button look={denies ? 'danger' : 'main'} type="submit" busy={decide.isPending}>
            {denies ? 'Deny' : 'Approve'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
