import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { TextArea } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask } from '../../server/ask.ts'
import { useMay } from '../../server/me.ts'
import { haltQuery } from '../../shell/halt-notice.tsx'

/** Stops every run before its next effect, or lets them go on; offered to whoever may. */
export function HaltButton() {
  const [open, setOpen] = useState(false)
  const [mayHalt, mayLift] = [useMay('run:control'), useMay('tenant:write')]
  const { data } = useQuery(haltQuery)
  if (data === undefined) return null
  const halted = data.halt !== null
  if (halted ? !mayLift : !mayHalt) return null
  return (
    <>
      <Button look="danger" icon={halted ? 'run' : 'stop'} onClick={() => setOpen(true)}>
        {halted ? 'Lift the halt …' : 'Halt all runs …'}
      </Button>
      {open && <HaltDialog halted={halted} onClose={() => setOpen(false)} />}
    </>
  )
}

function HaltDialog({ halted, onClose }: { halted: boolean; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const queries = useQueryClient()
  const send = useMutation({
    mutationFn: () => ask(halted ? 'DELETE /halt' : 'POST /halt', { body: { reason: reason.trim() } }),
    onSuccess: async (answer) => {
      queries.setQueryData(haltQuery.queryKey, answer)
      toast(halted ? 'Runs go on.' : 'Every run stops before its next effect.')
      onClose()
      await queries.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={halted ? 'Lift the halt' : 'Halt all runs'}
      description={
        halted
          ? 'Runs that were stopped go on.'
          : 'No run has another effect until the halt is lifted. What is under way is finished.'
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setMissing(reason.trim() === '')
          if (reason.trim() !== '') send.mutate()
        }}
      >
        {send.error !== null && <Problem error={send.error} />}
        <TextArea
          label="Reason"
          hint="Everybody sees it, and it is kept in the record."
          error={missing ? 'A reason is needed.' : null}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Back</Button>
          <Button look="danger" type="submit" busy={send.isPending}>
            {halted ? 'Lift the halt' : 'Halt all runs'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
