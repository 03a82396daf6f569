import { useState, type ReactNode } from 'react'
import { chosenProject } from '../server/chosen-project.ts'
import { Button } from './button.tsx'
import { toast } from './toast.tsx'

/** Fetches a file from the gateway, as the page asks for everything else, and hands it to the browser to keep. */
export function DownloadLink({ path, children }: { path: string; children: ReactNode }) {
  const [busy, setBusy] = useState(false)
  const download = async () => {
    setBusy(true)
    try {
      const project = chosenProject()
      const response = await fetch(path, { headers: project === null ? {} : { 'x-project': project } })
      if (!response.ok) throw new Error(`The gateway answered ${response.status}.`)
      saveAs(await response.blob(), nameOf(response, path))
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button icon="download" busy={busy} onClick={() => void download()}>
      {children}
    </Button>
  )
}

function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function nameOf(response: Response, path: string): string {
  const said = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1]
  return said ?? path.split('?')[0]!.split('/').filter(Boolean).join('-')
}
