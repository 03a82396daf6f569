import { describe, expect, test } from 'vitest'
import { answeringModel } from './answering-model.ts'
import { wireNames } from './wire-name.ts'

const service = answeringModel({ provider: 'openai', modelId: 'x' }, async () => ({ content: [] }))
const script = answeringModel({ provider: 'scripted', modelId: 'x' }, async () => ({ content: [] }))

describe('the names that a service is told', () => {
  test('are what services take, one for each tool, and lead back', () => {
    const names = [
      'look',
      'crm/look.up',
      'crm__look_up',
      'crm__look/up',
      `a/${'x'.repeat(120)}`,
      `a.${'x'.repeat(120)}`,
    ]
    const wire = wireNames(names, service)
    const told = names.map(wire.encode)
    expect(told.slice(0, 4)).toEqual(['look', 'crm__look_up_2', 'crm__look_up', 'crm__look__up'])
    expect(new Set(told).size).toBe(names.length)
    for (const name of told) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(told.map(wire.decode)).toEqual(names)
  })

  test('stay as they are for names that the model made up', () => {
    expect(wireNames(['a/b'], service).decode('launch')).toBe('launch')
  })

  test('are the own ones in a script, which may be a recorded one all the same', () => {
    const wire = wireNames(['a/b'], script)
    expect([wire.encode('a/b'), wire.decode('a/b'), wire.decode('a__b')]).toEqual(['a/b', 'a/b', 'a/b'])
  })
})
