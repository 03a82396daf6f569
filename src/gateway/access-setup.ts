import type { Directory } from '../directory/directory.ts'
import type { Principal } from '../directory/principal.ts'
import type { TrustedOrigins } from './same-origin.ts'

/** What the routes about people, keys and projects stand on. */
export interface AccessSetup {
  readonly directory: Directory
  readonly trusted: TrustedOrigins
  /** Where secrets of the installation are kept. */
  readonly secrets: SecretKeeper
  /** What a project holds besides what the directory knows of, in words. */
  readonly holdings?: (tenant: string, project: string) => Promise<readonly string[]>
}

/** What of the secret store the gateway uses: it asks for no secret. */
export interface SecretKeeper {
  list(): readonly { readonly name: string }[]
  set(name: string, value: string): Promise<unknown>
  remove(name: string): Promise<void>
}

/** The account that signs in for a user: its own, or the one in the tenant it comes from. */
export function accountOf(
  directory: Directory,
  { tenant, user }: Pick<Principal, 'tenant' | 'user'>,
): { readonly tenant: string; readonly user: string } | null {
  const known = user === null ? null : directory.people.find(tenant, user)
  return known === null ? null : (known.home ?? { tenant, user: known.id })
}
