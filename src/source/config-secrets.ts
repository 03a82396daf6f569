import type { Config, ConfigValue, McpServerConfig, SecretReference } from './config.ts'

/** The secrets that a configuration refers to, wherever it does. */
export function secretsOfConfig(config: Config): SecretReference[] {
  return referencesIn([
    ...config.http.flatMap(({ headers, reconcile }) => [headers, reconcile?.headers ?? {}]),
    ...config.exec.map(({ env }) => env),
    ...Object.values(config.mcpServers).map(valuesOf),
  ])
}

/** The secrets that an MCP server is given. */
export function secretsOfServer(server: McpServerConfig): SecretReference[] {
  return referencesIn([valuesOf(server)])
}

function valuesOf(server: McpServerConfig): Readonly<Record<string, ConfigValue>> {
  return 'command' in server ? server.env : server.headers
}

function referencesIn(values: readonly Readonly<Record<string, ConfigValue>>[]): SecretReference[] {
  return values
    .flatMap((each) => Object.values(each))
    .flatMap((value) => (value.kind === 'secret' ? [value.reference] : []))
}
