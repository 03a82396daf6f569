import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'

/** A button that asks before it does what cannot be taken back. */
export function ConfirmButton({
  label,
  title,
  about,
  busy,
  onConfirm,
}: {
  label: string
  title: string
  about: string
  busy: boolean
  onConfirm: () => void
}) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button
        small
        look="quiet"
        busy={busy}
        onClick={() => setAsking(true)}
        aria-label={`${label}: ${title}`}
      >
        {label}
      </Button>
      {asking && (
        <Dialog open onOpenChange={setAsking} title={title} description={about}>
          <DialogActions>
            <Button onClick={() => setAsking(false)}>Not now</Button>
            <Button
              look="danger"
              onClick={() => {
                setAsking(false)
                onConfirm()
              }}
            >
              {label}
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  )
}
