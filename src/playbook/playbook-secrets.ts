import { checkedInput } from './compile-input.ts'
import type { Playbook } from './playbook.ts'

/** A secret that a playbook needs: where it is, and the calls that are given it. */
export interface PlaybookSecret {
  readonly name: string
  readonly reference: string
  readonly givenTo: readonly { readonly step: string; readonly tool: string }[]
}

/** The secrets of a playbook, in the order of their declaration. */
export function secretsOfPlaybook({ secrets, steps }: Playbook): readonly PlaybookSecret[] {
  if (Object.keys(secrets).length === 0) return []
  const given = steps.flatMap(({ id, tool, input, verify, compensate }) =>
    tool === null
      ? []
      : [{ tool, input }, verify, compensate].flatMap((call) =>
          call === null
            ? []
            : checkedInput(call.input, 'after').secrets.map(({ name }) => ({
                name,
                step: id,
                tool: call.tool,
              })),
        ),
  )
  return Object.entries(secrets).map(([name, reference]) => ({
    name,
    reference,
    givenTo: given.filter((each) => each.name === name).map(({ step, tool }) => ({ step, tool })),
  }))
}

/** A secret in a line: `api_token (store:api-token), given to practice.deploy`. */
export function phraseSecret({ name, reference, givenTo }: PlaybookSecret): string {
  const tools = [...new Set(givenTo.map(({ tool }) => tool))]
  return `${name} (${reference}), given to ${tools.length === 0 ? 'no call' : tools.join(', ')}`
}
