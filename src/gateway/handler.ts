import type { FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Contract, RouteName } from '../api/contract.ts'
import type { RouteShape } from '../api/route.ts'
import type { Principal } from '../directory/principal.ts'

type Parsed<Shape, Part extends string> =
  Shape extends Readonly<Record<Part, z.ZodType>> ? z.output<Shape[Part]> : undefined

/** What a handler is given: everything parsed and permitted. */
export interface Asked<Shape extends RouteShape> {
  /** Null only where everybody may ask. */
  readonly principal: Shape['access'] extends 'public' | 'signature' ? Principal | null : Principal
  /** The id of the project that the request names; null for the tenant as a whole. */
  readonly project: string | null
  readonly params: Parsed<Shape, 'params'>
  readonly query: Parsed<Shape, 'query'>
  readonly body: Parsed<Shape, 'body'>
  /** The version that `If-Match` names; null where it names none. */
  readonly match: number | null
  readonly request: FastifyRequest
  /** For what is streamed, and for cookies. */
  readonly reply: FastifyReply
}

/** An answer with more to it than its body. */
export class Answer<Body> {
  readonly body: Body
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    body: Body,
    more: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.body = body
    this.status = more.status ?? null
    this.headers = more.headers ?? {}
  }
}

/** A body of JSON that was written down already, as where it is asked for often and does not change. */
export class WrittenJson {
  readonly text: string | Buffer

  constructor(text: string | Buffer) {
    this.text = text
  }
}

/** The body of an answer that is no JSON: a text, bytes, a stream; undefined once the handler has taken the reply over. */
type Raw = string | Buffer | NodeJS.ReadableStream | undefined

type BodyOf<Shape extends RouteShape> = Shape['response'] extends z.ZodType
  ? z.input<Shape['response']> | WrittenJson
  : Shape extends { readonly produces: readonly string[] }
    ? Raw
    : undefined | void

/** What answers a request. */
export type Handler<Shape extends RouteShape> = (
  asked: Asked<Shape>,
) => BodyOf<Shape> | Answer<BodyOf<Shape>> | Promise<BodyOf<Shape> | Answer<BodyOf<Shape>>>

/** A handler for every route of the contract. */
export type Handlers = { readonly [Name in RouteName]: Handler<Contract[Name]> }

/** The handlers of some routes. */
export type HandlersOf<Names extends RouteName> = Pick<Handlers, Names>
