import type { JsonObject } from '../shared/json.ts'

/** The kinds of things there are. */
export type ThingKind = 'node' | 'service' | 'order' | 'customer' | 'refund' | 'message'

/** A node of the cluster. */
export type PracticeNode = {
  readonly node: string
  readonly cordoned: boolean
  readonly pods: readonly string[]
}

/** A service of the cluster: what of it runs now, and what ran before, the latest first. */
export type PracticeDeployment = {
  readonly service: string
  readonly release: string
  readonly previous: readonly string[]
  readonly restarts: number
}

/** An order of the desk. */
export type PracticeOrder = {
  readonly order_id: string
  readonly customer_id: string
  readonly total: number
  readonly refunded: number
  readonly items: readonly JsonObject[]
}

const pods: Readonly<Record<string, readonly string[]>> = {
  'node-1': ['api-1'],
  'node-2': ['web-1'],
  'node-3': ['api-2'],
  'node-4': ['web-2'],
  'node-5': [],
  'node-6': ['api-3'],
  'node-7': ['web-3', 'api-4'],
  'node-8': [],
  'node-9': ['web-4'],
}

/** Everything there is before anybody did anything. */
export const firstWorld: readonly (readonly [ThingKind, string, JsonObject])[] = [
  ...Object.entries(pods).map(
    ([node, list]) => ['node', node, { node, cordoned: false, pods: [...list] }] as const,
  ),
  ['service', 'web', { service: 'web', release: 'v42', previous: ['v41', 'v40'], restarts: 0 }],
  ['service', 'api', { service: 'api', release: 'v17', previous: ['v16'], restarts: 0 }],
  ['customer', 'C-7', { customer_id: 'C-7', name: 'Ada Moreno', active: true }],
  ['customer', 'C-8', { customer_id: 'C-8', name: 'Lin Osei', active: false }],
  [
    'order',
    'ORD-42',
    {
      order_id: 'ORD-42',
      customer_id: 'C-7',
      total: 30,
      refunded: 0,
      items: [
        { name: 'kettle', price: 22 },
        { name: 'tea towel', price: 8 },
      ],
    },
  ],
  [
    'order',
    'ORD-43',
    {
      order_id: 'ORD-43',
      customer_id: 'C-8',
      total: 120,
      refunded: 0,
      items: [{ name: 'lamp', price: 120 }],
    },
  ],
  [
    'order',
    'ORD-77',
    {
      order_id: 'ORD-77',
      customer_id: 'C-7',
      total: 620,
      refunded: 0,
      items: [{ name: 'sofa', price: 620 }],
    },
  ],
]

/** Whether a release works: `v42` of web does not, nor does any that says so in its name. */
export function isHealthy(service: string, release: string): boolean {
  return !(service === 'web' && release === 'v42') && !release.includes('broken')
}
