import { Button } from '../../component/button.tsx'
import { CopyButton } from '../../component/copy-button.tsx'
import { Dialog, DialogActions } from '../../component/dialog.tsx'

/** Shows something that is shown only once, until whoever made it says that they have it. */
export function ShownOnce({
  title,
  about,
  value,
  onDone,
}: {
  title: string
  about: string
  value: string
  onDone: () => void
}) {
  return (
    <Dialog open onOpenChange={(open) => !open && onDone()} title={title} description={about}>
      <div className="flex items-center gap-1 rounded-md border border-line bg-sunken px-3 py-2">
        <code className="min-w-0 grow break-all" data-testid="shown-once">
          {value}
        </code>
        <CopyButton text={value} label="it" />
      </div>
      <DialogActions>
        <Button look="main" onClick={onDone}>
          I have it
        </Button>
      </DialogActions>
    </Dialog>
  )
}
