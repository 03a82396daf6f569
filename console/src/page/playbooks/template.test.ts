import { expect, test } from 'vitest'
import { checkPlaybookText } from '../../editor/check-text.ts'
import { practiceDeclarations } from '../../../../src/practice/practice-declaration.ts'
import { templates } from './template.ts'

test.each(Object.entries(templates))(
  'the template %s has no mistakes, with the tools that a first start has',
  (_, { text, format }) => {
    const { findings, reading } = checkPlaybookText(text, format, practiceDeclarations as never)
    expect(findings).toEqual([])
    expect(reading?.flow.length).toBeGreaterThan(1)
  },
)
