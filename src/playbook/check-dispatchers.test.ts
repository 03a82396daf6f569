import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { isNamedLikeDispatcher } from './check-dispatchers.ts'
import { checkPlaybook } from './check-playbook.ts'

const warnings = (tool: string, more: JsonObject = {}, step: JsonObject = {}, dispatchers: string[] = []) =>
  checkPlaybook(
    { id: 'a', name: 'A', steps: [{ id: 's', description: 'd', expected_tools: [tool], ...step }], ...more },
    { dispatchers },
  ).problems.map(({ code, severity, path }) => `${severity} ${code} ${path.join('.')}`)

const open = ['warning open_dispatcher steps.0.expected_tools.0']

describe('isNamedLikeDispatcher', () => {
  it.each([
    'bash',
    'shell',
    'sql',
    'query',
    'run_sql',
    'executeSQL',
    'db.query',
    'http_fetch',
    'postgres/query',
    'exec',
    'Bash',
  ])('takes %s for one', (tool) => expect(isNamedLikeDispatcher(tool)).toBe(true))
  it.each([
    'fetch_order',
    'query_customer',
    'exec_summary',
    'refund',
    'run',
    'execute',
    'shellfish',
    'http_request',
    '',
  ])('takes %s for none', (tool) => expect(isNamedLikeDispatcher(tool)).toBe(false))
})

describe('checkDispatchers', () => {
  it('warns where nothing says what the arguments may be', () => {
    expect(warnings('bash')).toEqual(open)
    expect(warnings('bash', {}, { arguments: { bash: { message: 'm' } } })).toContain(open[0])
    expect(warnings('bash', { rules: [{ tool: 'other', require: 'true' }] })).toContain(open[0])
  })

  it('is content with a rule or with arguments', () => {
    expect(warnings('bash', { rules: [{ tool: 'ba*', require: 'args.c == 1' }] })).toEqual([])
    expect(warnings('bash', {}, { arguments: { bash: { schema: { type: 'object' } } } })).toEqual([])
    expect(warnings('bash', {}, { arguments: { bash: { require: 'args.c == 1' } } })).toEqual([])
    expect(warnings('refund')).toEqual([])
  })

  it('knows of tools that whoever binds them tells of', () => {
    expect(warnings('refund', {}, {}, ['refund'])).toEqual(open)
  })
})
