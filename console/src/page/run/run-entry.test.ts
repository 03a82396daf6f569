import { expect, test } from 'vitest'
import { addEntry, type RunEntry } from './run-entry.ts'

const entry = (seq: number): RunEntry => ({ seq, type: 'x', at: '', by: '', data: {} })

test('entries stand in order, each once, in whatever order and however often they arrive', () => {
  const seqs = [2, 1, 3, 2, 5, 4, 5].reduce<readonly RunEntry[]>(
    (entries, seq) => addEntry(entries, entry(seq)),
    [],
  )
  expect(seqs.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
})
