/**
 * The reason of a signal that puts a run down without ending it: `resume` takes it up again. Any other reason cancels the run for good. A model that
 * throws it does the same.
 */
export class Interruption extends Error {
  constructor(message = 'the run was interrupted') {
    super(message)
    this.name = 'Interruption'
  }
}
