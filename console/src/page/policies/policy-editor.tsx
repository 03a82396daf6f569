import { useMutation, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Card } from '../../component/card.tsx'
import { TextArea } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Skeleton } from '../../component/skeleton.tsx'
import type { Finding } from '../../editor/finding.ts'
import { ask } from '../../server/ask.ts'
import { Findings } from '../playbooks/workbench.tsx'
import { exampleCases } from './policy-template.ts'

const TextEditor = lazy(async () => ({ default: (await import('../../editor/text-editor.tsx')).TextEditor }))

/** Checks a policy a moment after it was changed. */
export function useCheckedPolicy(text: string): {
  readonly findings: readonly Finding[]
  readonly settled: boolean
} {
  const [checked, setChecked] = useState<{ findings: readonly Finding[]; of: string }>({
    findings: [],
    of: '',
  })
  useEffect(() => {
    let stale = false
    const timer = setTimeout(async () => {
      const { checkPolicyText } = await import('../../editor/check-text.ts')
      if (!stale) setChecked({ findings: checkPolicyText(text), of: text })
    }, 250)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text])
  return { findings: checked.findings, settled: checked.of === text }
}

/** The text of a policy with its mistakes, and test cases beside it that can be tried at once. */
export function PolicyEditor({
  text,
  readOnly,
  findings,
  settled,
  onChange,
}: {
  text: string
  readOnly: boolean
  findings: readonly Finding[]
  settled: boolean
  onChange: (text: string) => void
}) {
  const { data: schema } = useQuery({
    queryKey: ['schema', 'policy'],
    staleTime: Infinity,
    queryFn: async () => (await import('../../../../src/policy/policy-json-schema.ts')).policyJsonSchema(),
  })
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-2">
        <div className="h-[min(34rem,65vh)]">
          <Suspense fallback={<Skeleton lines={12} />}>
            <TextEditor
              label="Text of the policy"
              text={text}
              language="yaml"
              readOnly={readOnly}
              findings={findings}
              schema={schema ?? null}
              onChange={onChange}
            />
          </Suspense>
        </div>
        <Findings findings={findings} settled={settled} />
      </div>
      <TestCases text={text} />
    </div>
  )
}

function TestCases({ text }: { text: string }) {
  const [cases, setCases] = useState(exampleCases)
  const test = useMutation({ mutationFn: () => ask('POST /policies/test', { body: { text, cases } }) })
  return (
    <Card title="Test cases">
      <div className="flex flex-col gap-3">
        <TextArea
          label="Cases"
          hint="YAML, as lockstep policy test takes them. They try the text on the left, published or not."
          rows={10}
          value={cases}
          spellCheck={false}
          className="font-mono"
          onChange={(event) => setCases(event.target.value)}
        />
        <div>
          <Button icon="run" busy={test.isPending} onClick={() => test.mutate()}>
            Try them
          </Button>
        </div>
        <div aria-live="polite">
          {test.error !== null && <Problem error={test.error} />}
          {test.data !== undefined && (
            <>
              <p className="mb-2 text-sm font-medium">
                {test.data.passed} passed, {test.data.failed} failed
              </p>
              <ul className="flex flex-col gap-1.5 text-sm">
                {test.data.cases.map(({ name, passed, message }) => (
                  <li key={name} className="flex flex-wrap items-start gap-2">
                    <Badge tone={passed ? 'ok' : 'bad'}>{passed ? 'as expected' : 'not as expected'}</Badge>
                    <span className="min-w-0 break-words">
                      {name}
                      {message !== null && (
                        <span className="block whitespace-pre-wrap text-muted">{message}</span>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      </div>
    </Card>
  )
}
