import type { policyRoutes } from '../api/text-routes.ts'
import { actorOf, type Principal } from '../directory/principal.ts'
import type { Platform } from '../platform/platform.ts'
import { sendDiagnostics } from '../platform/read-runbook.ts'
import type { ShelfPolicy } from '../platform/text-shelf.ts'
import { describeExplanation, explain } from '../policy/explain.ts'
import { parsePolicy } from '../policy/parse-policy.ts'
import type { PolicyRequest } from '../policy/policy-request.ts'
import { readFacts } from '../policy/read-facts.ts'
import { targetOf } from '../tool/target-of.ts'
import { iso } from './access-views.ts'
import type { HandlersOf } from './handler.ts'
import { pageOf } from './page-of.ts'
import { assertMay, sees, visible } from './permit.ts'
import { RequestError } from './problem.ts'
import { testPolicy } from './test-policy.ts'
import { matches, refuseErrors, showText, tagged } from './text-answers.ts'
import { versionAnswers } from './version-answers.ts'

type Sender = { readonly principal: Principal; readonly project: string | null }
type Scope = Pick<ShelfPolicy, 'appliesTo' | 'runbook'>

/** Answers about policies. One for the whole tenant is changed by who may in the whole tenant. */
export function policyHandlers(platform: Platform): HandlersOf<keyof typeof policyRoutes> {
  const { directory, texts, tools } = platform
  const names = tools.tools.map(({ tool }) => tool.name)
  const read = (text: string) =>
    parsePolicy(text, { format: /^\s*\{/.test(text) ? 'json' : 'yaml', tools: names })
  const find = async (asked: Sender, id: string) =>
    visible(asked, 'policy:read', await texts.policy(asked.principal.tenant, id))
  const toEdit = async (asked: Sender, id: string) => {
    const policy = await find(asked, id)
    assertScope(asked.principal, policy, policy.project)
    texts.assertEditable(policy)
    return policy
  }
  const whole = async (tenant: string, policy: ShelfPolicy) => {
    const text = await texts.text(tenant, policy, policy.versions.at(-1)!.version)
    return { ...card(policy), text, warnings: sendDiagnostics(read(text).diagnostics) }
  }
  const current = async (tenant: string, id: string) => await whole(tenant, (await texts.policy(tenant, id))!)
  /** What it applies to, as far as that is there. */
  const scopeOf = async (asked: Sender, { appliesTo, runbook }: Scope, project: string): Promise<Scope> => {
    if (appliesTo !== 'runbook') return { appliesTo, runbook: null }
    const found = runbook === null ? null : await texts.findRunbook(asked.principal.tenant, runbook, null)
    if (found === null || found.project !== project)
      throw new RequestError('invalid_request', 'body.runbook: names no playbook of the project.')
    return { appliesTo, runbook: found.id }
  }

  const versions = versionAnswers(texts, find)

  return {
    listPolicies: async (asked) => {
      const { query } = asked
      const isShown = sees(asked, 'policy:read')
      const all = (await texts.policies(asked.principal.tenant)).filter(
        ({ project, archived }) => isShown(project) && archived === query.archived,
      )
      const found = all.filter(({ name }) => matches(query.search, name))
      return pageOf(
        found
          .map(card)
          .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0)),
        query,
      )
    },
    createPolicy: async (asked) => {
      const { principal, body } = asked
      const project = asked.project ?? directory.projects.default(principal.tenant).id
      assertScope(principal, body, project)
      refuseErrors('invalid_policy', read(body.text).diagnostics)
      const { name, text, note = null } = body
      const scope = await scopeOf(asked, body, project)
      const made = await directory.policies.publish(actorOf(principal), project, {
        name,
        text,
        note,
        ...scope,
      })
      return tagged(await current(principal.tenant, made.id), 201)
    },
    checkPolicy: ({ body }) => ({ diagnostics: sendDiagnostics(read(body.text).diagnostics) }),
    explainPolicies: async ({ principal, project, body }) => {
      const { tenant, actor, roles } = principal
      const place = project ?? directory.projects.default(tenant).id
      const policies = await texts.policiesFor(tenant, place, null)
      const tool = tools.tools.find(({ tool: each }) => each.name === body.tool)?.tool ?? null
      const { args, step, mode, context } = body
      const target = tool === null ? null : targetOf(tool, args)
      const request: PolicyRequest = { tool: body.tool, args, step, risk: tool?.risk ?? null, target }
      const own = roles
        .filter((each) => each.project === null || each.project === place)
        .map(({ role }) => role)
      const asking = body.principal ?? { id: actor, roles: own }
      const facts = readFacts(
        {
          at: `${iso(platform.now()).slice(0, 19)}Z`,
          principal: asking.id,
          roles: [...asking.roles],
          mode,
          context,
        },
        request,
        policies,
      )
      const explanation = explain(policies, request, facts)
      const { verdict, code, rule, policy, reason } = explanation.decision
      return {
        verdict,
        code,
        rule,
        policy: policy?.id ?? null,
        reason,
        explanation: [...describeExplanation(explanation)],
      }
    },
    getPolicy: async (asked) =>
      tagged(await whole(asked.principal.tenant, await find(asked, asked.params.id))),
    updatePolicy: async (asked) => {
      const { principal, body, match } = asked
      const policy = await toEdit(asked, asked.params.id)
      assertScope(principal, body, policy.project)
      refuseErrors('invalid_policy', read(body.text).diagnostics)
      const { name, text, note = null } = body
      const scope = await scopeOf(asked, body, policy.project)
      await directory.policies.revise(actorOf(principal), policy.id, match, { name, text, note, ...scope })
      return tagged(await current(principal.tenant, policy.id))
    },
    deletePolicy: async (asked) => {
      const policy = await toEdit(asked, asked.params.id)
      await directory.policies.remove(actorOf(asked.principal), policy.id, asked.match)
    },
    listPolicyVersions: versions.list,
    getPolicyVersion: versions.get,
    diffPolicy: versions.diff,
    testPolicy: ({ body }) => testPolicy(body.text, body.cases, names),
  }
}

/** What binds the whole tenant is for who may in the whole tenant. */
function assertScope(principal: Principal, { appliesTo }: Pick<Scope, 'appliesTo'>, project: string): void {
  assertMay(principal, 'policy:write', appliesTo === 'tenant' ? null : project)
}

function card(policy: ShelfPolicy) {
  return { ...showText(policy), appliesTo: policy.appliesTo, runbook: policy.runbook }
}
