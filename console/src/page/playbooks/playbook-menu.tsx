import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, buttonClass } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'
import { TextField } from '../../component/field.tsx'
import { Icon } from '../../component/icon.tsx'
import { Menu, MenuItem, MenuLine } from '../../component/menu.tsx'
import { Problem } from '../../component/problem.tsx'
import { toast } from '../../component/toast.tsx'
import { ask, tellError, type Answer } from '../../server/ask.ts'

type Playbook = Answer<'GET /runbooks/{id}'>

/** What else can be done with a playbook. */
export function PlaybookMenu({ playbook }: { playbook: Playbook }) {
  const [asking, setAsking] = useState<'duplicate' | 'delete' | null>(null)
  const queries = useQueryClient()
  const { id, archived, origin } = playbook
  const archive = useMutation({
    mutationFn: () => ask(`POST /runbooks/{id}/${archived ? 'unarchive' : 'archive'}`, { params: { id } }),
    onSuccess: async () => {
      toast(archived ? 'It can be run again.' : 'It is put away.')
      await queries.invalidateQueries({ queryKey: ['playbooks'] })
    },
    onError: (error) => toast(tellError(error), 'bad'),
  })
  const own = origin.kind === 'console'
  return (
    <>
      <Menu label="More" className={buttonClass('plain')} trigger={<Icon name="down" />}>
        <MenuItem icon="copy" onSelect={() => setAsking('duplicate')}>
          Duplicate …
        </MenuItem>
        {own && (
          <MenuItem icon="dash" onSelect={() => archive.mutate()}>
            {archived ? 'Take out of the archive' : 'Archive'}
          </MenuItem>
        )}
        {own && <MenuLine />}
        {own && (
          <MenuItem icon="close" onSelect={() => setAsking('delete')}>
            Delete …
          </MenuItem>
        )}
      </Menu>
      {asking === 'duplicate' && <Duplicate playbook={playbook} onClose={() => setAsking(null)} />}
      {asking === 'delete' && <Delete playbook={playbook} onClose={() => setAsking(null)} />}
    </>
  )
}

function Duplicate({ playbook, onClose }: { playbook: Playbook; onClose: () => void }) {
  const [name, setName] = useState(`${playbook.name} (copy)`)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const make = useMutation({
    mutationFn: () => ask('POST /runbooks/{id}/duplicate', { params: { id: playbook.id }, body: { name } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['playbooks', 'list'] })
      onClose()
      await navigate({ to: '/playbooks/$id', params: { id } })
    },
  })
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={`Duplicate ${playbook.name}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          make.mutate()
        }}
        className="flex flex-col gap-3"
      >
        <TextField
          label="Name of the copy"
          value={name}
          required
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
        />
        {make.error !== null && <Problem error={make.error} />}
        <DialogActions>
          <Button onClick={onClose}>Not now</Button>
          <Button type="submit" look="main" busy={make.isPending}>
            Duplicate
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

function Delete({ playbook, onClose }: { playbook: Playbook; onClose: () => void }) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => ask('DELETE /runbooks/{id}', { params: { id: playbook.id }, match: playbook.version }),
    onSuccess: async () => {
      toast(`${playbook.name} is deleted.`)
      await navigate({ to: '/playbooks' })
      await queries.invalidateQueries({ queryKey: ['playbooks'] })
    },
  })
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${playbook.name}?`}
      description="No run can be begun any more. Runs that were begun keep the version they have, and the record keeps every version."
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
