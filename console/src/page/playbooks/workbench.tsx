import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Card } from '../../component/card.tsx'
import { Icon } from '../../component/icon.tsx'
import { Skeleton } from '../../component/skeleton.tsx'
import { Tabs } from '../../component/tabs.tsx'
import type { Checked, Format, Reading } from '../../editor/check-text.ts'
import type { Finding } from '../../editor/finding.ts'
import { FlowDiagram } from '../../flow/flow-diagram.tsx'
import { ask } from '../../server/ask.ts'

const TextEditor = lazy(async () => ({ default: (await import('../../editor/text-editor.tsx')).TextEditor }))

const pauseMs = 250
const unchecked: Checked = { findings: [], reading: null }

/** What the tools are, for checks; none while it is not known. */
export function useTools() {
  return useQuery({
    queryKey: ['tools'],
    staleTime: 60_000,
    queryFn: ({ signal }) => ask('GET /tools', { signal }),
  })
}

/** Checks a text a moment after it was changed; what was found before stays until then. */
export function useChecked(text: string, format: Format): Checked & { readonly settled: boolean } {
  const tools = useTools()
  const known = tools.data?.items
  const [checked, setChecked] = useState<Checked & { of: string }>({ ...unchecked, of: '' })
  useEffect(() => {
    let stale = false
    const timer = setTimeout(async () => {
      const { checkPlaybookText } = await import('../../editor/check-text.ts')
      if (stale) return
      setChecked({ ...checkPlaybookText(text, format, known ?? []), of: `${format} ${text}` })
    }, pauseMs)
    return () => {
      stale = true
      clearTimeout(timer)
    }
  }, [text, format, known])
  return { ...checked, settled: checked.of === `${format} ${text}` }
}

/** The keys of a playbook, for completion. */
function usePlaybookSchema(format: Format) {
  const { data } = useQuery({
    queryKey: ['schema', 'playbook'],
    staleTime: Infinity,
    enabled: format === 'yaml',
    queryFn: async () =>
      (await import('../../../../src/playbook/playbook-json-schema.ts')).playbookJsonSchema(),
  })
  return format === 'yaml' ? (data ?? null) : null
}

/** A text with its mistakes on the left; its drawing and its read-back on the right, both kept up with the text. */
export function Workbench({
  text,
  format,
  readOnly,
  checked,
  onChange,
}: {
  text: string
  format: Format
  readOnly: boolean
  checked: Checked & { readonly settled: boolean }
  onChange: (text: string) => void
}) {
  const schema = usePlaybookSchema(format)
  const [tab, setTab] = useState<'flow' | 'says'>('flow')
  // While the text has errors, the last reading stays: it is what was being changed.
  const [last, setLast] = useState<Reading | null>(null)
  useEffect(() => {
    if (checked.reading !== null) setLast(checked.reading)
  }, [checked.reading])
  const reading = checked.reading ?? last
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-2">
        <div className="h-[min(38rem,70vh)]">
          <Suspense fallback={<Skeleton lines={12} />}>
            <TextEditor
              label="Text of the playbook"
              text={text}
              language={format === 'markdown' ? 'markdown' : 'yaml'}
              readOnly={readOnly}
              findings={checked.findings}
              schema={schema}
              onChange={onChange}
            />
          </Suspense>
        </div>
        <Findings findings={checked.findings} settled={checked.settled} />
      </div>
      <Card
        title="What it does"
        actions={
          checked.reading === null && reading !== null ? (
            <Badge tone="warn">as it was before the errors</Badge>
          ) : undefined
        }
      >
        {reading === null ? (
          <p className="text-sm text-muted">The drawing appears when the text has no errors.</p>
        ) : (
          <Tabs
            label="What it does"
            value={tab}
            onChange={setTab}
            tabs={[
              {
                value: 'flow',
                label: 'Flow',
                content: <FlowDiagram steps={reading.flow} label="The steps of the playbook" />,
              },
              { value: 'says', label: 'In words', content: <ReadBack reading={reading} /> },
            ]}
          />
        )}
      </Card>
    </div>
  )
}

/** What is wrong with a text, in its order. */
export function Findings({ findings, settled }: { findings: readonly Finding[]; settled: boolean }) {
  const counts = useMemo(() => {
    const errors = findings.filter(({ severity }) => severity === 'error').length
    return { errors, warnings: findings.length - errors }
  }, [findings])
  return (
    <div role="status" aria-live="polite">
      {findings.length === 0 && !settled ? (
        <p className="text-sm text-muted">Checking …</p>
      ) : findings.length === 0 ? (
        <p className="flex items-center gap-1.5 text-sm text-ok">
          <Icon name="check" /> No mistakes found.
        </p>
      ) : (
        <>
          <p className="sr-only">
            {counts.errors} errors, {counts.warnings} warnings
          </p>
          <ul className="max-h-56 overflow-y-auto rounded-md border border-line text-sm">
            {findings.slice(0, 200).map((each, index) => (
              <li
                key={`${index} ${each.code}`}
                className="flex gap-2 border-b border-line px-2.5 py-1.5 last:border-b-0"
              >
                <Icon
                  name={each.severity === 'error' ? 'close' : 'warning'}
                  className={`mt-0.5 size-4 shrink-0 ${each.severity === 'error' ? 'text-bad' : 'text-warn'}`}
                />
                <span className="min-w-0 grow break-words">
                  {each.line !== null && <span className="text-muted">Line {each.line}: </span>}
                  {each.message}
                  {each.hint !== null && <span className="text-muted">, {each.hint}</span>}
                </span>
                <code className="shrink-0 text-xs text-muted">{each.code}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

const marks = {
  guaranteed: 'ok',
  'left to the model': 'warn',
  'asks a person': 'info',
} as const

function ReadBack({ reading }: { reading: Reading }) {
  return (
    <div className="flex flex-col gap-3 text-sm">
      <ol className="flex flex-col gap-1.5">
        {reading.flow.map((step) => (
          <li
            key={step.id}
            className="flex flex-wrap items-start justify-between gap-x-3 gap-y-0.5"
            style={{ paddingLeft: step.depth * 16 }}
          >
            <span className="min-w-0 flex-1 basis-56 break-words">{step.says}</span>
            {step.mark !== null && (
              <Badge tone={marks[step.mark]} icon={null}>
                {step.mark}
              </Badge>
            )}
          </li>
        ))}
      </ol>
      {reading.says.length > 0 && (
        <ul className="list-disc border-t border-line pt-3 pl-4 text-muted">
          {reading.says.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
