import { z } from 'zod'
import { contract } from '../api/contract.ts'
import type { RouteShape } from '../api/route.ts'
import { problem } from '../api/shape.ts'
import type { Json, JsonObject } from '../shared/json.ts'

/** The description of the HTTP interface, OpenAPI 3.1, made from the contract. */
export function openApi(version: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, shape] of Object.entries(contract) as [string, RouteShape][]) {
    paths[shape.path] = { ...paths[shape.path], [shape.method.toLowerCase()]: operation(name, shape) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lockstep',
      version,
      description: 'Playbooks, runs, policies, approvals and the record of what happened.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }, { header: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key, lk_…' },
        header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'lockstep_session',
          description: 'Changes need x-csrf-token as well.',
        },
      },
      schemas: { Problem: schemaOf(problem, 'output') },
    },
  }
}

function operation(name: string, shape: RouteShape): JsonObject {
  const open = shape.access === 'public' || shape.access === 'signature'
  return {
    operationId: name,
    summary: shape.summary,
    tags: [shape.tag],
    description: open
      ? 'Needs no sign-in.'
      : shape.access === 'signed_in'
        ? 'Anybody who is signed in.'
        : `Needs the permission \`${shape.access}\`.`,
    ...(open ? { security: [] } : {}),
    parameters: [
      ...parameters('path', shape.params),
      ...parameters('query', shape.query),
      ...headersOf(shape),
    ],
    ...(shape.body === undefined
      ? {}
      : {
          requestBody: {
            required: !shape.body.safeParse({}).success,
            content: { 'application/json': { schema: schemaOf(shape.body, 'input') } },
          },
        }),
    responses: {
      [String(shape.status ?? 200)]: { description: 'Done.', ...contentOf(shape) },
      default: {
        description: 'Why not.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function contentOf({ response, produces }: RouteShape): JsonObject {
  if (response !== null) return { content: { 'application/json': { schema: schemaOf(response, 'output') } } }
  if (produces === undefined) return {}
  return { content: Object.fromEntries(produces.map((type) => [type, { schema: { type: 'string' } }])) }
}

function parameters(place: 'path' | 'query', schema: z.ZodObject | undefined): JsonObject[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: each,
  }))
}

function headersOf({ method, access, match }: RouteShape): JsonObject[] {
  const text = { type: 'string' }
  const named = (name: string, required: boolean, description: string) => ({
    name,
    in: 'header',
    required,
    description,
    schema: text,
  })
  return [
    ...(access === 'public' || access === 'signature' || access === 'signed_in'
      ? []
      : [named('x-project', false, 'The name or id of a project.')]),
    ...(method === 'POST' && access !== 'public' && access !== 'signature'
      ? [named('idempotency-key', false, 'The same request under the same key is carried out once.')]
      : []),
    ...(match === undefined
      ? []
      : [named('if-match', match === 'required', 'The version that is changed, in quotes.')]),
  ]
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  })
  return rest as unknown as JsonObject
}
