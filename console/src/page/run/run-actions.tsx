import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { TextArea } from '../../component/field.tsx'
import type { IconName } from '../../component/icon.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask } from '../../server/ask.ts'
import { useMay } from '../../server/me.ts'
import type { RunPage as Run } from '../../../../src/api/run-fold.ts'
import { isOver } from './use-live-run.ts'

const orders = {
  pause: {
    label: 'Pause',
    icon: 'pause',
    said: 'The run stops before its next call.',
    about: 'The call that is under way is finished; the next one waits until the run is resumed.',
  },
  resume: {
    label: 'Resume',
    icon: 'run',
    said: 'The run goes on.',
    about: 'The run goes on where it stopped.',
  },
  cancel: {
    label: 'Cancel',
    icon: 'stop',
    said: 'The run is being cancelled.',
    about: 'The run ends. What was done is undone where the playbook says how.',
  },
} as const satisfies Record<string, { label: string; icon: IconName; said: string; about: string }>

type Order = keyof typeof orders

/** What can be done with a run as it stands; each needs a second click, and takes a reason for the record. */
export function RunActions({ run }: { run: Run }) {
  const [order, setOrder] = useState<Order | null>(null)
  const may = useMay('run:control')
  if (!may || isOver(run.status)) return null
  const offered: Order[] = run.status === 'paused' ? ['resume', 'cancel'] : ['pause', 'cancel']
  return (
    <>
      {offered.map((each) => (
        <Button
          key={each}
          icon={orders[each].icon}
          look={each === 'cancel' ? 'danger' : 'plain'}
          onClick={() => setOrder(each)}
        >
          {orders[each].label}
        </Button>
      ))}
      {order !== null && <OrderDialog id={run.id} order={order} onClose={() => setOrder(null)} />}
    </>
  )
}

function OrderDialog({ id, order, onClose }: { id: string; order: Order; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const queries = useQueryClient()
  const { label, about, said } = orders[order]
  const send = useMutation({
    mutationFn: () =>
      ask(`POST /runs/{id}/${order}`, {
        params: { id },
        body: reason.trim() === '' ? {} : { reason: reason.trim() },
      }),
    onSuccess: async () => {
      toast(said)
      onClose()
      await queries.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={`${label} this run`} description={about}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        {send.error !== null && <Problem error={send.error} />}
        <TextArea
          label="Reason"
          hint="It is kept in the record."
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <DialogActions>
          <Button onClick={onClose}>Leave it</Button>
          <Button look={order === 'cancel' ? 'danger' : 'main'} type="submit" busy={send.isPending}>
            {label} the run
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
