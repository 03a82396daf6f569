import { describe, expect, it } from 'vitest'
import { readFlags } from './read-flags.ts'

const rules = { mode: { values: ['dry-run', 'execute'] }, play: 'switch' } as const

describe('readFlags', () => {
  it('sorts names from flags', () => {
    const { names, flags } = readFlags(['a.yaml', '--mode', 'execute', '--play'], rules)
    expect(names).toEqual(['a.yaml'])
    expect([...flags]).toEqual([
      ['mode', 'execute'],
      ['play', ''],
    ])
  })

  it('takes a choice once: of two, neither is meant for sure', () => {
    expect(() => readFlags(['--mode', 'dry-run', '--mode', 'execute'], rules)).toThrow(/only once/)
  })

  it('refuses what it does not know, with the nearest', () => {
    expect(() => readFlags(['--mdoe', 'execute'], rules)).toThrow(
      expect.objectContaining({ code: 'usage', hint: 'did you mean --mode?' }) as Error,
    )
    expect(() => readFlags(['--mode', 'exec'], rules)).toThrow(/exec/)
    expect(() => readFlags(['--mode'], rules)).toThrow(/needs a value/)
  })

  it('lists options as they are typed, and no value that is only known to be refused', () => {
    const some = { mode: { values: ['dry-run'], later: ['shadow'] }, v: 'switch' } as const
    expect(() => readFlags(['--zzzzzzzz'], some)).toThrow(
      expect.objectContaining({ hint: 'known: --mode, -v' }) as Error,
    )
    expect(() => readFlags(['--mode', 'zzzzzzz'], some)).toThrow(
      expect.objectContaining({ hint: 'known: dry-run' }) as Error,
    )
    expect(readFlags(['--mode', 'shadow'], some).flags.get('mode')).toBe('shadow')
  })
})
