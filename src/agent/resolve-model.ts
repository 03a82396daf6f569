import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { LanguageModel } from 'ai'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** A model by name: which kinds there are, and how each is made. */
const kinds: Readonly<Record<string, (rest: string) => Promise<LanguageModelV4>>> = {
  async openai(id) {
    const apiKey = key('OPENAI_API_KEY', `openai:${id}`)
    const { createOpenAI } = await provider('@ai-sdk/openai', () => import('@ai-sdk/openai'))
    return createOpenAI({ apiKey, ...baseUrl('OPENAI_BASE_URL') })(id)
  },
  async anthropic(id) {
    const apiKey = key('ANTHROPIC_API_KEY', `anthropic:${id}`)
    const { createAnthropic } = await provider('@ai-sdk/anthropic', () => import('@ai-sdk/anthropic'))
    return createAnthropic({ apiKey, ...baseUrl('ANTHROPIC_BASE_URL') })(id)
  },
  async 'openai-compatible'(rest) {
    const { createOpenAICompatible } = await provider(
      '@ai-sdk/openai-compatible',
      () => import('@ai-sdk/openai-compatible'),
    )
    const [id = '', url = process.env['OPENAI_COMPATIBLE_BASE_URL']] = rest.split(/@(?=https?:\/\/)/)
    if (url === undefined || url === '') {
      throw new LockstepError('unknown_model', `openai-compatible:${id} needs the address of its server.`, {
        hint: 'Write openai-compatible:MODEL@http://localhost:11434/v1, or set OPENAI_COMPATIBLE_BASE_URL.',
      })
    }
    const apiKey = process.env['OPENAI_COMPATIBLE_API_KEY']
    const settings = {
      name: 'openai-compatible',
      baseURL: url,
      // Without being asked, such services do not say what a streamed answer took.
      includeUsage: true,
      ...(apiKey === undefined ? {} : { apiKey }),
    }
    return createOpenAICompatible(settings)(id)
  },
  async scripted(path) {
    const { loadScriptedModel } = await import('./scripted-model.ts')
    return loadScriptedModel(path)
  },
}

/**
 * The model a name stands for; a model of the AI SDK stands for itself, one of an older interface behind the newest. Throws
 * `unknown_model`, `missing_api_key` or `missing_package`, each with what to do.
 */
export async function resolveModel(model: LanguageModel | string): Promise<LanguageModelV4> {
  if (typeof model !== 'string') return await asNewest(model)
  if (model === 'none') return (await import('./no-model.ts')).noModel
  if (model === 'me') return (await import('./person-model.ts')).createPersonModel()
  const [kind = '', ...rest] = model.split(':')
  const make = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (make !== undefined && rest.join(':') !== '') return await make(rest.join(':'))
  const nearest = nearestName(kind, Object.keys(kinds))
  throw new LockstepError('unknown_model', `There is no model '${model}'.`, {
    hint: `${nearest === null ? '' : `Did you mean ${nearest}:…? `}Models are openai:…, anthropic:…, openai-compatible:…, scripted:FILE, me, and none.`,
  })
}

async function asNewest(model: Exclude<LanguageModel, string>): Promise<LanguageModelV4> {
  const { specificationVersion: version } = model
  if (version === 'v4') return model
  if (version === 'v3' || version === 'v2') {
    // The SDK knows how to translate; nobody else has to wait until it is loaded.
    const { wrapLanguageModel } = await import('ai')
    return wrapLanguageModel({ model, middleware: [] })
  }
  throw new LockstepError(
    'unknown_model',
    `A model of interface '${String(version)}' cannot be asked: v2, v3 and v4 of the AI SDK can.`,
    { hint: 'Use a version of its package that goes with the AI SDK 7.' },
  )
}

function key(variable: string, model: string): string {
  const value = process.env[variable]
  if (value !== undefined && value !== '') return value
  throw new LockstepError('missing_api_key', `${model} needs a key, and ${variable} is not set.`, {
    hint: `Set ${variable}, or try the playbook without a key: model 'me' or 'scripted:FILE'.`,
  })
}

function baseUrl(variable: string): { baseURL?: string } {
  const value = process.env[variable]
  return value === undefined || value === '' ? {} : { baseURL: value }
}

async function provider<Package>(name: string, load: () => Promise<Package>): Promise<Package> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new LockstepError('missing_package', `The package ${name} is not installed.`, {
      hint: `Install it: npm install ${name}`,
      cause,
    })
  }
}
