import type { z } from 'zod'
import type { Permission } from './permission.ts'

/**
 * Who may ask: whoever has the permission; `signed_in` is anybody who is known; `public` is everybody; `signature` is who signs the request with the secret of
 * the address.
 */
export type Access = Permission | 'signed_in' | 'public' | 'signature'

/** A route as data: the gateway, the client, the description and the tests are made from it. */
export interface RouteShape {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters stand in braces: `/runs/{run}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly access: Access
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The body of a success; null where there is none, or it is no JSON. */
  readonly response: z.ZodType | null
  /** The media types of a success that is no JSON. */
  readonly produces?: readonly string[]
  /** The status of a success; 200 if it is not said. */
  readonly status?: 200 | 201 | 202 | 204
  /** The answer holds a secret that is shown once: it is not kept for who asks again under the same `Idempotency-Key`. */
  readonly shown?: 'once'
  /** Whether `If-Match` must, or may, name the version that is changed. */
  readonly match?: 'required' | 'optional'
}

/** Declares a route; its types stay as exact as they are written. */
export function route<const Shape extends RouteShape>(shape: Shape): Shape {
  return shape
}

/** The names of the parameters in a path. */
export function paramsOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}
