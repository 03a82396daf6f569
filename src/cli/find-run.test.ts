import { expect, it } from 'vitest'
import { findRun } from './find-run.ts'

const records = { runs: async () => ['r_1'], read: async () => [] }

it('says of a run that was cut off before its first entry that nothing was done', async () => {
  const run = 'r_848ba3a4-5ff1-4a0a-94bc-6dad6c71227b'
  await expect(findRun(records, run)).rejects.toMatchObject({
    message: `there is no run ${run}`,
    hint: expect.stringContaining('it was cut off before anything was done'),
  })
  await expect(findRun(records, 'r_2')).rejects.toMatchObject({
    hint: 'no recorded run waits to be taken up',
  })
})
