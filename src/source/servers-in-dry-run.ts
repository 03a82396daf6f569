import type { Config } from './config.ts'
import { secretsOfServer } from './config-secrets.ts'

/**
 * The servers a dry run starts, because only they know their tools; each is told. One that would need a program to be run for a secret is
 * left, unless tools that read are called for real.
 */
export function serversInDryRun(
  servers: Config['mcpServers'],
  { callReads }: { readonly callReads: boolean },
  onNotice: (text: string) => void,
): Config['mcpServers'] {
  const started = Object.entries(servers).filter(([name, server]) => {
    if (!callReads && secretsOfServer(server).some(({ from }) => from === 'exec')) {
      onNotice(
        `DRY RUN: the MCP server '${name}' is not started, because a program would have to be run for its secret. Its tools are taken as the playbook names them, and their arguments are not checked.`,
      )
      return false
    }
    const how = 'command' in server ? 'starts' : 'connects to'
    const calls = callReads ? 'only those that are declared to read are called' : 'none of them is called'
    onNotice(`DRY RUN: ${how} the MCP server '${name}' to list its tools; ${calls}.`)
    return true
  })
  return Object.fromEntries(started)
}
