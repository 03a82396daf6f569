import fc from 'fast-check'

/**
 * The same random cases every time, so that a run of the tests says something about the change and not about luck. Who
 * looks for new cases sets LOCKSTEP_RUNS, which also says how many times as many there are.
 */
if (process.env['LOCKSTEP_RUNS'] === undefined) fc.configureGlobal({ seed: 20261115 })
