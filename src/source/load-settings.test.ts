import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { applyDotEnv } from './dot-env.ts'
import { loadConfigDocument } from './load-config.ts'
import { loadSettings, type LoadedSettings } from './load-settings.ts'
import { settingRow } from './setting-row.ts'
import { serverSchema, settingRules } from './settings-schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'lockstep-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = new URL('../../', import.meta.url)
const home = { LOCKSTEP_HOME: '/h' }

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

function shown({ shown: all }: LoadedSettings, key: string) {
  const { value, origin } = all.find((each) => each.key === key)!
  return [value, origin.from]
}

describe('settings', () => {
  it('come from flags, then the environment, then .env, then the file, then what is usual', () => {
    const config = loadConfigDocument(
      write('lockstep.config.yaml', 'server: { port: 1, host: f, log_level: warn, session: { hours: 3 } }\n'),
    )
    write('.env', 'LOCKSTEP_PORT=2\nLOCKSTEP_HOST=e\nLOCKSTEP_LOG_LEVEL=debug\nLLM_PROVIDER=openai\n')
    const env: Record<string, string | undefined> = {
      ...home,
      LOCKSTEP_PORT: '3',
      LOCKSTEP_HOST: 'v',
      LLM_PROVIDER: '',
    }
    applyDotEnv(folder, env)
    const loaded = loadSettings({ config, env, flags: new Map([['port', '4']]) })
    expect(
      ['port', 'host', 'log_level', 'session.hours', 'rate_limit.burst', 'llm.provider'].map((key) =>
        shown(loaded, key),
      ),
    ).toEqual([
      [4, 'flag'],
      ['v', 'environment'],
      ['debug', '.env'],
      [3, 'file'],
      [100, 'default'],
      ['openai', '.env'],
    ])
    expect(loaded.settings).toMatchObject({ port: 4, host: 'v', logLevel: 'debug', home: '/h' })
  })

  it('mask every secret, and are without them', () => {
    const env = {
      ...home,
      OPENAI_API_KEY: 'sk-very-hushed',
      ANTHROPIC_API_KEY: 'sk-ant-hushed',
      OPENAI_BASE_URL: 'https://me:hushed@proxy.example/v1',
    }
    const loaded = loadSettings({ env })
    expect(JSON.stringify(loaded)).not.toContain('hushed')
    expect(shown(loaded, 'openai_api_key')).toEqual(['********', 'environment'])
    expect(shown(loaded, 'openai_compatible_api_key')).toEqual([null, 'default'])
  })

  it('tell every problem at once, with its place', () => {
    const env = {
      ...home,
      LOCKSTEP_PORT: '80000',
      LOCKSTEP_SAMPLES: 'maybe',
      LOCKSTEP_PUBLIC_URL: 'https://a.example/x',
      TOKEN_PRICE_INPUT_USD: '1',
    }
    expect(() => loadSettings({ env })).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message: [
          'The settings have problems:',
          'LOCKSTEP_PORT must be a whole number from 0 to 65535',
          'LOCKSTEP_PUBLIC_URL must be an address without a path: https://lockstep.example',
          'LOCKSTEP_SAMPLES must be true or false',
          'TOKEN_PRICE_INPUT_USD stands alone: both prices are needed, or none',
        ].join('\n  '),
      }),
    )
    expect(() => loadSettings({ env: home, flags: new Map([['port', 'x']]) })).toThrow(
      expect.objectContaining({ code: 'usage', message: '--port must be a whole number from 0 to 65535' }),
    )
  })

  it.each([
    [{}, { model: 'none', price: null }],
    [{ LLM_PROVIDER: 'openai' }, { model: 'openai:gpt-4o' }],
    [
      { LLM_PROVIDER: 'openai', COST_MODEL: 'openai_gpt-5-mini' },
      { model: 'openai:gpt-5-mini', costModel: 'gpt-5-mini' },
    ],
    [
      { LLM_PROVIDER: 'anthropic', COST_MODEL: 'openai_gpt-4o' },
      { model: 'anthropic:claude-sonnet-4-5', costModel: 'gpt-4o' },
    ],
    [{ LLM_PROVIDER: 'stub', LOCKSTEP_MODEL: 'scripted:x.yaml' }, { model: 'scripted:x.yaml' }],
    [
      { TOKEN_PRICE_INPUT_USD: '0.000005', TOKEN_PRICE_OUTPUT_USD: '1.5e-5' },
      { price: { input: 5, output: 15 } },
    ],
  ])('name the model of %j', (env, llm) => {
    expect(loadSettings({ env: { ...home, ...env } }).settings.llm).toMatchObject(llm)
  })

  it('say which variable of ours there is not', () => {
    expect(loadSettings({ env: { ...home, LOCKSTEP_PROT: '1' } }).notes).toEqual([
      'LOCKSTEP_PROT is no variable of Lockstep; did you mean LOCKSTEP_PORT?',
    ])
  })

  it('are refused in a file where they are unknown or wrong', () => {
    const file = write('bad.yaml', 'server:\n  prot: 1\n  openai_api_key: x\n  llm: { provider: gpt }\n')
    expect(() => loadConfigDocument(file)).toThrow(
      /line 2.*`port`[\s\S]*openai_api_key[\s\S]*stub, openai or anthropic/,
    )
  })

  it('find a path in a file from that file, and one in a variable from the working directory', () => {
    const config = loadConfigDocument(write('paths.yaml', 'server: { from: ./books }\n'))
    expect(loadSettings({ env: home, config }).settings.from).toBe(join(folder, 'books'))
    expect(loadSettings({ env: { ...home, LOCKSTEP_FROM: 'b' }, config, folder: '/w' }).settings.from).toBe(
      '/w/b',
    )
  })
})

describe('.env.example', () => {
  const text = readFileSync(new URL('.env.example', root), 'utf8')
  const variables = settingRules.map(({ variable }) => variable)

  it('sets what is usual, so that copying it changes nothing', () => {
    const loaded = loadSettings({ env: { ...parseEnv(text), ...home } })
    expect(loaded.settings).toEqual(loadSettings({ env: home }).settings)
    expect(loaded.notes).toEqual([])
  })

  it('names only variables that there are, and is valid when everything in it is set', () => {
    const all = parseEnv(text.replaceAll(/^# (?=[A-Z_]+=)/gm, ''))
    expect(Object.keys(all).filter((name) => !variables.includes(name))).toEqual([])
    expect(Object.keys(all)).toEqual(expect.arrayContaining(['OPENAI_API_KEY', 'TOKEN_PRICE_OUTPUT_USD']))
    expect(loadSettings({ env: all }).settings.llm.price).toEqual({ input: 5, output: 15 })
  })
})

describe('docs/reference/settings.md', () => {
  const page = readFileSync(new URL('docs/reference/settings.md', root), 'utf8')
  it.each(settingRules.map((rule) => [rule.key, settingRow(rule)]))('has the row of %s', (_, row) => {
    expect(page).toContain(`\n${row}\n`)
  })
})

describe('the table of settings', () => {
  it('has every key of the file, and no other', () => {
    const keys = Object.entries(serverSchema.shape).flatMap(([key, schema]) => {
      const inner = schema.unwrap()
      return 'shape' in inner ? Object.keys(inner.shape).map((part) => `${key}.${part}`) : [key]
    })
    expect(
      settingRules
        .filter(({ inFile }) => inFile)
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual(keys.toSorted())
  })
})
