/** The reason of a signal that puts a run down without ending it: `resume` takes it up again. Any other reason cancels the run for good. */
export class Interruption extends Error {
  constructor() {
    super('the run was interrupted')
    this.name = 'Interruption'
  }
}
