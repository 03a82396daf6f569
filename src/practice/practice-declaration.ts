/** What the practice tools are, as data: it can be read without loading what makes them work. */
import type { Json, JsonObject } from '../shared/json.ts'
import type { Risk, ToolDefinition } from '../tool/tool.ts'

/** Arguments that fit the schema of a tool; numbers are only ever shown or handed on. */
export type Args = Readonly<Record<string, string>>

/** What a tool that writes says of itself. */
export interface Change {
  readonly name: string
  readonly description: string
  readonly risk: Exclude<Risk, 'read'>
  readonly input: JsonObject
  /** What the call acts on, as the path to it: `nodes/node-7`. */
  readonly thing: (args: Args) => readonly [kind: string, plural: string, id: string]
  readonly verb: string
  readonly body?: readonly string[]
  /** What would be done, seeing how things are. */
  readonly plan: (args: Args, now: JsonObject) => string
  /** That it has been done, in a few words. */
  readonly done: (result: JsonObject) => string
  readonly undo?: ToolDefinition['compensate']
  /** How an unknown outcome is found out: by asking, or by sending the call again. */
  readonly finds: 'reconcile' | 'idempotent'
}

const text = { type: 'string', minLength: 1 } as const
const anyText = { type: 'string' } as const

function input(required: JsonObject, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  }
}

const onNode = ({ node }: Args) => ['node', 'nodes', node ?? ''] as const
const onService = ({ service }: Args) => ['service', 'services', service ?? ''] as const
const onOrder = ({ order_id }: Args) => ['order', 'orders', order_id ?? ''] as const
const onCustomer = ({ customer_id }: Args) => ['customer', 'customers', customer_id ?? ''] as const

/** The undoing of a call that changed something; what was so before is left so. */
const undone =
  (name: string, args: (given: JsonObject, result: JsonObject) => JsonObject): Change['undo'] =>
  (given, result) => {
    const { changed } = (result ?? {}) as JsonObject
    return changed === true ? { tool: name, args: args(given, result as JsonObject) } : null
  }

/** The tools that write. */
export const changes: readonly Change[] = [
  {
    name: 'cordon_node',
    description: 'Lets no further pod onto a node of the practice cluster.',
    risk: 'write',
    input: input({ node: text }),
    thing: onNode,
    verb: 'cordon',
    plan: ({ node }, now) => (now['cordoned'] === true ? `${node} is cordoned already` : `cordon ${node}`),
    done: () => 'already cordoned',
    undo: undone('practice.uncordon_node', ({ node }) => ({ node: node! })),
    finds: 'reconcile',
  },
  {
    name: 'uncordon_node',
    description: 'Lets pods onto a node of the practice cluster again.',
    risk: 'write',
    input: input({ node: text }),
    thing: onNode,
    verb: 'uncordon',
    plan: ({ node }, now) => (now['cordoned'] === true ? `uncordon ${node}` : `${node} is not cordoned`),
    done: () => 'already uncordoned',
    undo: undone('practice.cordon_node', ({ node }) => ({ node: node! })),
    finds: 'reconcile',
  },
  {
    name: 'drain_node',
    description: 'Moves the pods of a cordoned node of the practice cluster to other nodes.',
    risk: 'write',
    input: input({ node: text }),
    thing: onNode,
    verb: 'drain',
    plan: ({ node }, now) => `move ${(now['pods'] as Json[]).length} pods away from ${node}`,
    done: () => 'already drained',
    finds: 'reconcile',
  },
  {
    name: 'deploy',
    description: 'Deploys a release of a service of the practice cluster.',
    risk: 'write',
    input: input({ service: text, release: text }),
    thing: onService,
    verb: 'deploy',
    body: ['release'],
    plan: ({ service, release }, now) => `deploy ${release} of ${service} in the place of ${now['release']}`,
    done: ({ release }) => `${String(release)} is deployed already`,
    undo: undone('practice.rollback', ({ service }, { from }) => ({ service: service!, release: from! })),
    finds: 'reconcile',
  },
  {
    name: 'rollback',
    description:
      'Takes a service of the practice cluster back to an earlier release, the last one if none is named. What ran meanwhile is gone.',
    risk: 'irreversible',
    input: input({ service: text }, { release: text }),
    thing: onService,
    verb: 'rollback',
    body: ['release'],
    plan: ({ service, release }, now) =>
      `take ${service} back from ${now['release']} to ${release ?? (now['previous'] as string[])[0]}`,
    done: ({ release }) => `already back at ${String(release)}`,
    finds: 'reconcile',
  },
  {
    name: 'restart_service',
    description: 'Restarts a service of the practice cluster.',
    risk: 'write',
    input: input({ service: text }),
    thing: onService,
    verb: 'restart',
    plan: ({ service }) => `restart ${service}`,
    done: () => 'already restarted',
    finds: 'idempotent',
  },
  {
    name: 'refund',
    description: 'Pays money of an order of the practice desk back.',
    risk: 'irreversible',
    input: input({ order_id: text, amount: { type: 'number', exclusiveMinimum: 0 } }, { customer_id: text }),
    thing: onOrder,
    verb: 'refunds',
    body: ['amount', 'customer_id'],
    plan: ({ order_id, amount }, now) =>
      `pay ${amount} of ${order_id} back, of which ${now['total']} was paid and ${now['refunded']} refunded`,
    done: ({ refund_id }) => `already refunded as ${String(refund_id)}`,
    finds: 'reconcile',
  },
  {
    name: 'notify_customer',
    description: 'Sends a message to a customer of the practice desk.',
    risk: 'write',
    input: input({ customer_id: text, text: anyText }),
    thing: onCustomer,
    verb: 'messages',
    body: ['text'],
    plan: ({ customer_id }, now) => `write to ${now['name']} (${customer_id})`,
    done: ({ message_id }) => `already sent as ${String(message_id)}`,
    finds: 'reconcile',
  },
]

/** The tools that only read. */
export const looks: readonly (Pick<Change, 'name' | 'description' | 'input'> & {
  readonly path: (args: Args) => string
})[] = [
  {
    name: 'get_node',
    description: 'Looks a node of the practice cluster up: cordoned, drained, its pods.',
    input: input({ node: text }),
    path: ({ node }) => `/nodes/${encodeURIComponent(node!)}`,
  },
  {
    name: 'list_nodes',
    description: 'Lists the nodes of the practice cluster.',
    input: input({}),
    path: () => '/nodes',
  },
  {
    name: 'get_release',
    description:
      'Looks a service of the practice cluster up: its release, those before it, whether it is healthy.',
    input: input({ service: text }),
    path: ({ service }) => `/services/${encodeURIComponent(service!)}`,
  },
  {
    name: 'list_services',
    description: 'Lists the services of the practice cluster.',
    input: input({}),
    path: () => '/services',
  },
  {
    name: 'lookup_order',
    description: 'Looks an order of the practice desk up.',
    input: input({ order_id: text }),
    path: ({ order_id }) => `/orders/${encodeURIComponent(order_id!)}`,
  },
  {
    name: 'lookup_customer',
    description: 'Looks a customer of the practice desk up.',
    input: input({ customer_id: text }),
    path: ({ customer_id }) => `/customers/${encodeURIComponent(customer_id!)}`,
  },
]

/** Every practice tool as a playbook has to know it, for whoever checks one without calling anything. */
export const practiceDeclarations: readonly {
  readonly name: string
  readonly risk: Risk
  readonly input: JsonObject
}[] = [
  ...looks.map(({ name, input: schema }) => ({
    name: `practice.${name}`,
    risk: 'read' as const,
    input: schema,
  })),
  ...changes.map(({ name, risk, input: schema }) => ({ name: `practice.${name}`, risk, input: schema })),
]
