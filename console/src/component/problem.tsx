import { ProblemError } from '../../../src/client/index.ts'
import { UnreachableError } from '../server/unreachable-error.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Icon } from './icon.tsx'

/** What went wrong, as the gateway tells it, with what helps to find it in its log. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, code, hint, requestId, errors } = tellProblem(error)
  return (
    <div role="alert" className="rounded-lg border border-bad/50 bg-bad-soft px-4 py-3 text-sm">
      <div className="flex items-start gap-2">
        <Icon name="warning" className="mt-0.5 size-4 text-bad" />
        <div className="min-w-0 grow">
          <p className="font-semibold text-bad">{title}</p>
          {detail !== title && <p className="mt-0.5 break-words">{detail}</p>}
          {errors.length > 0 && (
            <ul className="mt-1 list-disc pl-4">
              {errors.map((each) => (
                <li key={`${each.path} ${each.message}`}>
                  {each.path === '' ? '' : <code>{each.path}: </code>}
                  {each.message}
                </li>
              ))}
            </ul>
          )}
          {hint !== null && <p className="mt-1 text-muted">{hint}</p>}
          <p className="mt-1.5 flex flex-wrap items-center gap-x-3 text-xs text-muted">
            <code>{code}</code>
            {requestId !== null && (
              <span className="inline-flex items-center">
                request&nbsp;<code>{requestId}</code>
                <CopyButton text={requestId} label="the request id" />
              </span>
            )}
          </p>
        </div>
        {retry !== undefined && (
          <Button small onClick={retry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  )
}

type Told = {
  title: string
  detail: string
  code: string
  hint: string | null
  requestId: string | null
  errors: readonly { path: string; message: string }[]
}

function tellProblem(error: unknown): Told {
  if (error instanceof ProblemError) return { ...error.problem, errors: error.problem.errors ?? [] }
  const detail = error instanceof Error ? error.message : String(error)
  const none = { requestId: null, errors: [] }
  if (error instanceof UnreachableError) {
    const hint = 'Look whether it still runs, and whether this machine has a connection.'
    return { ...none, title: 'Not reached', detail, code: 'unreachable', hint }
  }
  return { ...none, title: 'This page failed', detail, code: 'console', hint: null }
}
