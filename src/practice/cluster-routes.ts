import type { JsonObject } from '../shared/json.ts'
import { PracticeRefusal, textOf, type PracticeDeed, type PracticeRoute } from './practice-route.ts'
import type { PracticeStore } from './practice-store.ts'
import { isHealthy, type PracticeDeployment, type PracticeNode } from './practice-world.ts'

const kept = 10

/** A small cluster: nodes that can be cordoned and drained, services with releases. */
export const clusterRoutes: readonly PracticeRoute[] = [
  {
    method: 'GET',
    path: '/nodes',
    tool: 'practice.list_nodes',
    read: (store) => ({ nodes: store.list('node').map((node) => showNode(node as PracticeNode)) }),
  },
  {
    method: 'GET',
    path: '/nodes/{node}',
    tool: 'practice.get_node',
    read: (store, { names }) => showNode(nodeOf(store, names['node']!)),
  },
  {
    method: 'POST',
    path: '/nodes/{node}/cordon',
    tool: 'practice.cordon_node',
    write: (store, { names }) => setCordoned(store, nodeOf(store, names['node']!), true),
  },
  {
    method: 'POST',
    path: '/nodes/{node}/uncordon',
    tool: 'practice.uncordon_node',
    write: (store, { names }) => setCordoned(store, nodeOf(store, names['node']!), false),
  },
  {
    method: 'POST',
    path: '/nodes/{node}/drain',
    tool: 'practice.drain_node',
    write: (store, { names }) => drain(store, nodeOf(store, names['node']!)),
  },
  {
    method: 'GET',
    path: '/services',
    tool: 'practice.list_services',
    read: (store) => ({
      services: store.list('service').map((service) => showService(service as PracticeDeployment)),
    }),
  },
  {
    method: 'GET',
    path: '/services/{service}',
    tool: 'practice.get_release',
    read: (store, { names }) => showService(serviceOf(store, names['service']!)),
  },
  {
    method: 'POST',
    path: '/services/{service}/deploy',
    tool: 'practice.deploy',
    write: (store, { names, body }) => {
      const before = serviceOf(store, names['service']!)
      const release = textOf(body, 'release')
      const previous = [before.release, ...before.previous].slice(0, kept)
      return move(store, before, release === before.release ? before : { ...before, release, previous })
    },
  },
  {
    method: 'POST',
    path: '/services/{service}/rollback',
    tool: 'practice.rollback',
    write: (store, { names, body }) => {
      const before = serviceOf(store, names['service']!)
      const wanted = body['release'] === undefined ? before.previous[0] : textOf(body, 'release')
      const at = before.previous.indexOf(wanted ?? '')
      if (at === -1) {
        throw new PracticeRefusal(
          422,
          wanted === undefined
            ? `${before.service} has no earlier release`
            : `${wanted} is no earlier release of ${before.service}: ${before.previous.join(', ')}`,
        )
      }
      return move(store, before, {
        ...before,
        release: before.previous[at]!,
        previous: before.previous.slice(at + 1),
      })
    },
  },
  {
    method: 'POST',
    path: '/services/{service}/restart',
    tool: 'practice.restart_service',
    write: (store, { names }) => {
      const before = serviceOf(store, names['service']!)
      return move(store, before, { ...before, restarts: before.restarts + 1 })
    },
  },
]

function nodeOf(store: PracticeStore, id: string): PracticeNode {
  const node = store.find('node', id)
  if (node === null) throw new PracticeRefusal(404, `there is no node ${id}`)
  return node as PracticeNode
}

function serviceOf(store: PracticeStore, id: string): PracticeDeployment {
  const service = store.find('service', id)
  if (service === null) throw new PracticeRefusal(404, `there is no service ${id}`)
  return service as PracticeDeployment
}

function setCordoned(store: PracticeStore, before: PracticeNode, cordoned: boolean): PracticeDeed {
  const node = { ...before, cordoned }
  store.put('node', node.node, node)
  const changed = before.cordoned !== cordoned
  return { target: `node/${node.node}`, changed, body: { ...showNode(node), changed } }
}

/** The pods of a node go to those that take any, the emptiest first. */
function drain(store: PracticeStore, before: PracticeNode): PracticeDeed {
  if (!before.cordoned) throw new PracticeRefusal(409, `${before.node} is not cordoned`)
  const moved: JsonObject[] = []
  for (const pod of before.pods) {
    const [to] = (store.list('node') as PracticeNode[])
      .filter(({ cordoned, node }) => !cordoned && node !== before.node)
      .toSorted((one, other) => one.pods.length - other.pods.length)
    if (to === undefined) throw new PracticeRefusal(409, 'every other node is cordoned')
    store.put('node', to.node, { ...to, pods: [...to.pods, pod] })
    moved.push({ pod, to: to.node })
  }
  const node = { ...before, pods: [] }
  store.put('node', node.node, node)
  const changed = moved.length > 0
  return { target: `node/${node.node}`, changed, body: { ...showNode(node), moved, changed } }
}

function move(store: PracticeStore, before: PracticeDeployment, after: PracticeDeployment): PracticeDeed {
  store.put('service', after.service, after)
  const changed = after !== before
  const body = { ...showService(after), from: before.release, changed }
  return { target: `service/${after.service}`, changed, body }
}

function showNode({ node, cordoned, pods }: PracticeNode): JsonObject {
  return { node, cordoned, drained: cordoned && pods.length === 0, pods: [...pods] }
}

function showService(deployment: PracticeDeployment): JsonObject {
  const { service, release, previous, restarts } = deployment
  return { service, release, previous: [...previous], healthy: isHealthy(service, release), restarts }
}
