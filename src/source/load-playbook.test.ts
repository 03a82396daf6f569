import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { PlaybookLoadError } from '../playbook/playbook-load-error.ts'
import { Playbook } from '../playbook/playbook.ts'
import { loadPlaybook } from './load-playbook.ts'
import { PlaybookLoader } from './playbook-loader.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-load-'))
afterAll(() => rmSync(folder, { recursive: true }))

const loader = new PlaybookLoader()
const yaml =
  'id: refund\nname: Refund\nsteps:\n  - id: look\n    description: Look it up.\n    expected_tools: [lookup]\n'
const dict = {
  id: 'refund',
  name: 'Refund',
  steps: [{ id: 'look', description: 'Look it up.', expected_tools: ['lookup'] }],
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function failure(work: () => unknown): PlaybookLoadError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(PlaybookLoadError)
    return error as PlaybookLoadError
  }
  throw new Error('nothing was thrown')
}

const errors = (data: unknown) => failure(() => loader.loadDict(data)).errors.join('\n')

describe('PlaybookLoadError', () => {
  it('has no path and no errors unless given', () => {
    const error = new PlaybookLoadError('no')
    expect([error.message, error.path, error.errors, error.diagnostics, error.code]).toEqual([
      'no',
      null,
      [],
      [],
      'invalid_playbook',
    ])
  })

  it('keeps message, path and errors', () => {
    const error = new PlaybookLoadError('no', { path: 'a.yaml', errors: ['x', 'y'] })
    expect([error.message, error.path, error.errors]).toEqual(['no', 'a.yaml', ['x', 'y']])
  })
})

describe('loading an object', () => {
  it('gives a playbook with its steps', () => {
    expect(loader.loadDict(dict).steps.map((step) => step.id)).toEqual(['look'])
    expect(loader.loadDict({ id: 'a', name: 'A', steps: [] }).steps).toEqual([])
  })

  it.each<[string, unknown, RegExp]>([
    [
      'a missing id and no name to make it of',
      { ...dict, id: undefined, name: undefined },
      /`id` is missing/,
    ],
    ['a missing name', { ...dict, name: undefined }, /`name` is missing/],
    ['steps that are no list', { ...dict, steps: {} }, /`steps` must be a list/],
    ['a root that is a list', [], /dictionary/],
    ['a root that is nothing', null, /dictionary/],
    ['a root that is a text', 'refund', /dictionary/],
    ['two steps of one id', { ...dict, steps: [dict.steps[0], dict.steps[0]] }, /duplicate.*`look`/i],
    ['a step that is no mapping', { ...dict, steps: ['look'] }, /step 1 .*dictionary/],
    ['a step without id', { ...dict, steps: [{ description: '' }] }, /`id` of step 1 is missing/],
    ['a step without description', { ...dict, steps: [{ id: 'a' }] }, /`description` of step `a` is missing/],
    [
      'tools that are no list',
      { ...dict, steps: [{ ...dict.steps[0], expected_tools: 'lookup' }] },
      /`expected_tools` of step `look` must be a list of strings/,
    ],
    [
      'a tool that is no text',
      { ...dict, steps: [{ ...dict.steps[0], expected_tools: ['a', 7] }] },
      /`expected_tools` of step `look` must be a list of strings/,
    ],
    [
      'hints that are no list',
      { ...dict, steps: [{ ...dict.steps[0], hints: 'x' }] },
      /`hints` of step `look` must be a list of strings/,
    ],
    [
      'a hint that is no text',
      { ...dict, steps: [{ ...dict.steps[0], hints: [null] }] },
      /`hints` of step `look` must be a list of strings/,
    ],
    [
      'a list as step id',
      { ...dict, steps: [{ id: ['a'], description: '' }] },
      /`id` of step 1 must be a string/,
    ],
    ['an empty step id', { ...dict, steps: [{ id: '', description: '' }] }, /`id` of step 1/],
    [
      'a negative cap',
      { ...dict, steps: [{ ...dict.steps[0], max_tool_calls: -1 }] },
      /`max_tool_calls` of step `look` must be .* 0 or more/,
    ],
    [
      'a misspelt key',
      { ...dict, steps: [{ id: 'a', description: '', expected_tool: ['x'] }] },
      /unknown key `expected_tool`.*did you mean `expected_tools`\?/,
    ],
    [
      'the spelling of code',
      { ...dict, strictSequence: true },
      /unknown key `strictSequence`.*did you mean `strict_sequence`\?/,
    ],
    [
      'a prototype key',
      JSON.parse('{"id":"a","name":"A","__proto__":{"steps":[]}}'),
      /unknown key `__proto__`/,
    ],
    ['a constructor key', { ...dict, constructor: 1 }, /unknown key `constructor`/],
  ])('refuses %s, and names it', (_, data, message) => {
    expect(errors(data)).toMatch(message)
  })

  it('reports one sentence per problem, all in one pass', () => {
    const error = failure(() =>
      loader.loadDict({ steps: [{ id: 3 }, 'x', { id: 'a', description: '', outputs: ['b'] }] }),
    )
    expect(error.errors).toHaveLength(6)
    expect(error.diagnostics).toHaveLength(6)
    expect(error.errors.at(0)).toBe('`outputs` (in step `a`) is not available in this version')
  })

  it('returns a playbook that already is one', () => {
    const playbook = new Playbook({ id: 'a', name: 'A' })
    expect(loadPlaybook(playbook)).toBe(playbook)
  })

  it('knows the tools that exist when they are given', () => {
    expect(loadPlaybook(dict, { tools: ['lookup'] }).id).toBe('refund')
    expect(failure(() => loadPlaybook(dict, { tools: ['lookups'] })).errors[0]).toMatch(
      /`lookup`, which does not exist, did you mean `lookups`/,
    )
  })
})

describe('loading a text', () => {
  it('reads JSON and YAML', () => {
    expect(loader.loadJsonString(JSON.stringify(dict))).toEqual(loader.loadYamlString(yaml))
    expect(loadPlaybook(yaml)).toEqual(loadPlaybook(JSON.stringify(dict)))
  })

  it('reads a JSON text longer than any file name', () => {
    expect(loadPlaybook(JSON.stringify({ ...dict, description: 'x'.repeat(5000) })).id).toBe('refund')
  })

  it('names the language in mistakes of syntax', () => {
    expect(failure(() => loader.loadJsonString('{nope')).message).toMatch(/JSON/)
    expect(failure(() => loader.loadYamlString('a: [')).message).toMatch(/YAML/)
  })

  it('refuses a key that occurs twice, with the place of the second', () => {
    expect(failure(() => loader.loadYamlString(`${yaml}name: Other\n`)).diagnostics[0]).toMatchObject({
      code: 'duplicate_key',
      line: 7,
      column: 1,
    })
  })

  it('finds problems of the text and of the playbook in one pass', () => {
    const codes = failure(() => loader.loadYamlString('id: a\nid: b\nsteps: 3\nfoo: 1\n')).diagnostics.map(
      (found) => found.code,
    )
    expect(codes.sort()).toEqual(['duplicate_key', 'missing_key', 'unknown_key', 'wrong_type'])
  })
})

describe('loading a file', () => {
  it.each(['a.yaml', 'a.yml', 'a.YAML'])('reads %s', (name) => {
    expect(loader.loadFile(file(name, yaml)).name).toBe('Refund')
  })

  it('reads JSON, with a byte-order mark or without', () => {
    expect(loader.loadFile(file('a.json', JSON.stringify(dict))).name).toBe('Refund')
    expect(loader.loadFile(file('bom.json', `\uFEFF${JSON.stringify(dict)}`)).name).toBe('Refund')
  })

  it('takes a path, a file URL, and a path given to loadPlaybook', () => {
    const path = file('b.yaml', yaml)
    expect(loadPlaybook(path)).toEqual(loadPlaybook(pathToFileURL(path)))
    expect(loader.loadFile(pathToFileURL(path)).id).toBe('refund')
  })

  it('keeps the path and says where each problem is', () => {
    const path = file('bad.yaml', yaml.replace('expected_tools', 'expected_tool'))
    const error = failure(() => loadPlaybook(path))
    expect(error.path).toBe(path)
    expect(error.message).toContain(path)
    expect(error.diagnostics).toEqual([
      expect.objectContaining({
        code: 'unknown_key',
        file: path,
        line: 6,
        column: 5,
        endLine: 6,
        endColumn: 18,
        path: ['steps', 0, 'expected_tool'],
      }),
    ])
  })

  it.each<[string, () => string, string, RegExp]>([
    ['a missing file', () => join(folder, 'none.yaml'), 'file_not_found', /not found/],
    ['a name that is too long', () => `${'x'.repeat(5000)}.yaml`, 'file_not_found', /not found/],
    ['a path through a file', () => join(file('f.yaml', yaml), 'x.yaml'), 'file_not_found', /not found/],
    [
      'another kind of file',
      () => file('a.txt', yaml),
      'unsupported_format',
      /Unsupported.*\.yaml, \.yml, \.json/s,
    ],
    ['a file without a suffix', () => file('playbook', yaml), 'unsupported_format', /Unsupported/],
    ['bad JSON', () => file('bad.json', '{"id": }'), 'invalid_json', /JSON/],
    ['bad YAML', () => file('syntax.yaml', 'id: [a'), 'invalid_yaml', /YAML/],
    ['an empty file', () => file('empty.yaml', ''), 'empty_document', /empty/],
    ['only comments', () => file('comments.yaml', '# nothing\n'), 'empty_document', /empty/],
    ['a binary file', () => file('binary.yaml', new Uint8Array([1, 0, 2])), 'unreadable_file', /binary/],
    [
      'a file in another encoding',
      () => file('latin.yaml', new Uint8Array([0x69, 0x64, 0x3a, 0x20, 0xe9])),
      'unreadable_file',
      /UTF-8/,
    ],
    [
      'a file over 1 MB',
      () => file('large.yaml', `# ${'x'.repeat(1_100_000)}`),
      'document_too_large',
      /larger than 1 MB/,
    ],
    [
      'a device that never ends',
      () => {
        const path = join(folder, 'zero.yaml')
        symlinkSync('/dev/zero', path)
        return path
      },
      'unreadable_file',
      /not a regular file/,
    ],
    [
      'a directory',
      () => {
        const path = join(folder, 'dir.yaml')
        mkdirSync(path)
        return path
      },
      'unreadable_file',
      /directory/,
    ],
    [
      'a link to itself',
      () => {
        const path = join(folder, 'loop.yaml')
        symlinkSync(path, path)
        return path
      },
      'unreadable_file',
      /symbolic link/,
    ],
  ])('explains %s', (_, path, code, message) => {
    const given = path()
    const error = failure(() => loader.loadFile(given))
    expect(error.diagnostics[0]?.code).toBe(code)
    expect(error.message).toMatch(message)
    expect(error.path).toBe(given)
  })

  it('explains a file it may not read', ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may read every file')
    const path = file('secret.yaml', yaml)
    chmodSync(path, 0)
    expect(failure(() => loadPlaybook(path)).message).toMatch(/permission/)
  })

  it('refuses addresses other than files', () => {
    expect(failure(() => loadPlaybook(new URL('https://example.com/a.yaml'))).message).toMatch(/Unsupported/)
  })
})
