import { definePlaybook } from '../src/playbook/define-playbook.ts'

/** A playbook in TypeScript: step ids in `after` and tool names in `arguments` are checked while you type. */
export const onboarding = definePlaybook({
  id: 'onboarding',
  name: 'Open an account',
  inputs: { person_id: 'string' },
  steps: [
    {
      id: 'identify',
      description: 'Check the identity document.',
      expectedTools: ['read_document', 'match_face'],
    },
    { id: 'screen', description: 'Screen the name against sanction lists.', expectedTools: ['screen_name'] },
    {
      id: 'decide',
      description: 'Open the account, or hand the case to a person.',
      expectedTools: ['open_account', 'hand_over'],
      completeWhen: 'any',
      after: ['identify', 'screen'],
      arguments: { open_account: { require: 'args.person_id == inputs.person_id' } },
    },
  ],
})
