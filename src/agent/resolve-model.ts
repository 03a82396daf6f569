import type { LanguageModel } from 'ai'
import { LockstepError } from '../shared/lockstep-error.ts'
import { nearestName } from '../shared/nearest-name.ts'

/** A model by name: which kinds there are, and how each is made. */
const kinds: Readonly<Record<string, (rest: string) => Promise<LanguageModel>>> = {
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
    const settings = { name: 'openai-compatible', baseURL: url, ...(apiKey === undefined ? {} : { apiKey }) }
    return createOpenAICompatible(settings)(id)
  },
  async scripted(path) {
    const { loadScriptedModel } = await import('./scripted-model.ts')
    return loadScriptedModel(path)
  },
}

/**
 * The model a name stands for; a model of the AI SDK stands for itself. Throws `unknown_model`, `missing_api_key` or
 * `missing_package`, each with what to do.
 */
export async function resolveModel(model: LanguageModel | string): Promise<LanguageModel> {
  if (typeof model !== 'string') return model
  if (model === 'me') return (await import('./person-model.ts')).createPersonModel()
  const [kind = '', ...rest] = model.split(':')
  const make = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
  if (make !== undefined && rest.join(':') !== '') return await make(rest.join(':'))
  const nearest = nearestName(kind, Object.keys(kinds))
  throw new LockstepError('unknown_model', `There is no model '${model}'.`, {
    hint: `${nearest === null ? '' : `Did you mean ${nearest}:…? `}Models are openai:…, anthropic:…, openai-compatible:…, scripted:FILE and me.`,
  })
}

/** The id by which a model's price is found. */
export function modelIdOf(model: LanguageModel): string {
  return typeof model === 'string' ? model : model.modelId
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
