import { z } from 'zod'
import type { Problem } from '../api/shape.ts'
import type { ErrorCode } from '../shared/error-code.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactText } from '../shared/redact.ts'
import { partLimits, toJson } from '../shared/to-json.ts'

/** The statuses of what is not simply a request that cannot be carried out. */
const statuses: Partial<Readonly<Record<ErrorCode, number>>> = {
  invalid_request: 422,
  invalid_playbook: 422,
  invalid_policy: 422,
  invalid_input: 422,
  invalid_value: 422,
  unknown_tool: 422,
  unknown_model: 422,
  missing_model: 422,
  missing_api_key: 422,
  idempotency_conflict: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  duplicate: 409,
  read_only: 409,
  run_exists: 409,
  run_in_progress: 409,
  journal_conflict: 409,
  playbook_mismatch: 409,
  version_conflict: 412,
  precondition_required: 428,
  too_large: 413,
  rate_limited: 429,
  not_available: 409,
  journal_unwritable: 503,
  journal_unreadable: 503,
  journal_closed: 503,
  engine_unavailable: 503,
  internal: 500,
}

const titles: Readonly<Record<number, string>> = {
  400: 'The request cannot be read',
  401: 'Not signed in',
  403: 'Not permitted',
  404: 'Not found',
  409: 'Not as things stand',
  412: 'Changed meanwhile',
  413: 'Too large',
  422: 'Not valid',
  428: 'Version missing',
  429: 'Too many requests',
  500: 'Lockstep failed',
  503: 'Not available at the moment',
}

/** An error with more to say over HTTP: the places that are wrong, or headers. */
export class RequestError extends LockstepError {
  readonly errors: Problem['errors']
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | null

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      readonly hint?: string
      readonly errors?: Problem['errors']
      readonly headers?: Readonly<Record<string, string>>
      readonly status?: number
    } = {},
  ) {
    super(code, message, { hint: more.hint ?? null })
    this.errors = more.errors
    this.headers = more.headers ?? {}
    this.status = more.status ?? null
  }
}

/** The error that names every place of a request that has the wrong form. */
export function misfit(part: 'params' | 'query' | 'body', error: z.ZodError): RequestError {
  const errors = error.issues.map(({ path, message }) => ({
    path: [part, ...path.map(String)].join('.'),
    message: message.slice(0, 300),
  }))
  const [first] = errors
  return new RequestError('invalid_request', `${first?.path ?? part}: ${first?.message ?? 'is wrong'}`, {
    errors,
  })
}

/** Throws `invalid_request` for JSON that cannot be written into a record: nested too deeply, too large, or with half of a character in it. */
export function assertWritable(path: string, value: unknown): void {
  const { problem } = toJson(value, partLimits)
  if (problem === null) return
  throw new RequestError('invalid_request', `${path}: ${problem}.`, { errors: [{ path, message: problem }] })
}

/** What an error says over HTTP. What is nobody's doing but ours says nothing of its cause; the log has it under the id of the request. */
export function problemOf(
  error: unknown,
  requestId: string,
): { readonly problem: Problem; readonly headers: Readonly<Record<string, string>> } {
  const known = LockstepError.isInstance(error) ? error : ofFastify(error)
  const code = known?.code ?? 'internal'
  const told = known instanceof RequestError ? known : null
  const status = told?.status ?? statuses[code] ?? 409
  const errors = told?.errors
  return {
    headers: told?.headers ?? {},
    problem: {
      type: `/docs/errors/${code}`,
      title: titles[status] ?? 'Not possible',
      status,
      code,
      detail:
        status === 500
          ? 'Something failed that should not have. The log has it under the id of this request.'
          : redactText(known!.message),
      hint: status === 500 ? null : known!.hint,
      requestId,
      ...(errors === undefined ? {} : { errors }),
    },
  }
}

/** What Fastify itself refuses: no JSON, too large, a media type that nobody reads. */
function ofFastify(error: unknown): RequestError | null {
  const { statusCode, code, message } = error as { statusCode?: unknown; code?: unknown; message?: unknown }
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return null
  if (statusCode === 413)
    return new RequestError('too_large', 'The request is larger than this gateway takes.', { status: 413 })
  const detail =
    typeof code === 'string' && code.startsWith('FST_') ? String(message) : 'The request cannot be read.'
  return new RequestError('invalid_request', detail, { status: statusCode === 415 ? 415 : 400 })
}
