import { serveStdio as serve } from '@modelcontextprotocol/server/stdio'
import type { Gateway } from './gateway.ts'

/** Serves one client on standard input and output, until it closes them or the signal asks. Nothing else is written there. */
export async function serveStdio(gateway: Gateway, signal: AbortSignal): Promise<void> {
  const handle = serve(() => gateway.createServer(), { onerror: () => undefined })
  await new Promise<void>((resolve) => {
    process.stdin.once('end', () => resolve())
    process.stdin.once('close', () => resolve())
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
  await handle.close()
}
