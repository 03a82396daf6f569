import type { Procedure, Program } from '../program.ts'

/** The playbooks that a run begins with: those that begin by themselves, else the first of all. */
export function entriesOf(program: Program): readonly Procedure[] {
  const all = program.agents.flatMap(({ playbooks }) => playbooks)
  const beginning = all.filter(({ triggers }) => triggers.some(({ kind }) => kind === 'begin'))
  return beginning.length > 0 ? beginning : all.slice(0, 1)
}
