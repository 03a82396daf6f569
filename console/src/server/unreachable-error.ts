/** A request that reached no gateway at all: it is stopped, or the connection is lost. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('The gateway does not answer.', { cause })
    this.name = 'UnreachableError'
  }
}
