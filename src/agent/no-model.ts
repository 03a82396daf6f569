import { LockstepError } from '../shared/lockstep-error.ts'
import { answeringModel } from './answering-model.ts'

/** Stands in where no model is named: a program that needs none runs, and one that asks is told what to do. */
export const noModel = answeringModel({ provider: 'none', modelId: 'none' }, () => {
  throw new LockstepError('missing_model', 'This step needs a model, and none is named.', {
    hint: 'Name one, with --model or the option model: openai:…, anthropic:…, openai-compatible:…, scripted:FILE, or me to answer yourself.',
  })
})
