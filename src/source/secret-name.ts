import { LockstepError } from '../shared/lockstep-error.ts'

/** Says whether a text can name a secret of the store. */
export function isSecretName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/.test(text)
}

/** Throws `invalid_value` for a text that cannot name a secret. It is not quoted: whoever gives the value in its place has it in no log. */
export function checkSecretName(text: string): void {
  if (isSecretName(text)) return
  throw new LockstepError('invalid_value', 'That is no name of a secret.', {
    hint: 'a name has 1 to 128 letters, digits or _ . - and begins with a letter or _',
  })
}
