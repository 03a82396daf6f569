import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { Facts } from '../../component/card.tsx'
import { Select, TextArea, TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { ask } from '../../server/ask.ts'
import { useTools } from '../playbooks/workbench.tsx'
import { readJsonObject } from './read-json-object.ts'

const verdicts = {
  allow: { tone: 'ok', words: 'allowed' },
  needs_approval: { tone: 'warn', words: 'needs approval' },
  deny: { tone: 'bad', words: 'denied' },
} as const

/** Puts a call to the policies that are in force now, without making it, and shows what they say and why. */
export function ExplainPanel() {
  const [tool, setTool] = useState('')
  const [args, setArgs] = useState('{}')
  const [context, setContext] = useState('{}')
  const [roles, setRoles] = useState('')
  const [mode, setMode] = useState<'execute' | 'dry-run'>('execute')
  const tools = useTools()
  const read = { args: readJsonObject(args), context: readJsonObject(context) }
  const explain = useMutation({
    mutationFn: () =>
      ask('POST /policies/explain', {
        body: {
          tool,
          mode,
          args: read.args ?? {},
          context: read.context ?? {},
          ...(roles.trim() === ''
            ? {}
            : { principal: { id: 'somebody', roles: roles.split(',').map((role) => role.trim()) } }),
        },
      }),
  })
  const wrong = tool === '' || read.args === null || read.context === null
  return (
    <div className="grid grid-cols-1 gap-6 lg:grid-cols-2">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          explain.mutate()
        }}
        className="flex flex-col gap-3"
      >
        <TextField
          label="Tool"
          value={tool}
          list="known-tools"
          required
          onChange={(event) => setTool(event.target.value)}
        />
        <datalist id="known-tools">
          {tools.data?.items.map(({ name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <TextArea
          label="Arguments"
          hint="As JSON."
          value={args}
          rows={4}
          className="font-mono"
          error={read.args === null ? 'must be a JSON object' : null}
          onChange={(event) => setArgs(event.target.value)}
        />
        <TextArea
          label="Context"
          hint='As JSON, such as {"env": "prod"}.'
          value={context}
          rows={2}
          className="font-mono"
          error={read.context === null ? 'must be a JSON object' : null}
          onChange={(event) => setContext(event.target.value)}
        />
        <TextField
          label="Roles of whoever asks"
          hint="Separated by commas; empty for your own."
          value={roles}
          onChange={(event) => setRoles(event.target.value)}
        />
        <Select
          label="Mode"
          value={mode}
          onChange={setMode}
          options={[
            { value: 'execute', label: 'execute' },
            { value: 'dry-run', label: 'dry run' },
          ]}
        />
        <div>
          <Button type="submit" look="main" icon="search" busy={explain.isPending} disabled={wrong}>
            Ask the policies
          </Button>
        </div>
      </form>
      <div aria-live="polite" className="min-w-0">
        {explain.error !== null && <Problem error={explain.error} />}
        {explain.data !== undefined && (
          <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
            <p>
              <Badge tone={verdicts[explain.data.verdict].tone}>{verdicts[explain.data.verdict].words}</Badge>
            </p>
            <p className="text-sm">{explain.data.reason}</p>
            <Facts
              facts={[
                ['Code', <code key="code">{explain.data.code}</code>],
                ['Policy', explain.data.policy ?? '–'],
                ['Rule', explain.data.rule ?? '–'],
              ]}
            />
            <div className="border-t border-line pt-3 text-sm">
              {explain.data.explanation.map((line, index) => (
                <p key={`${index} ${line}`} className={line.startsWith(' ') ? 'pl-4 text-muted' : 'mt-1'}>
                  {line.trim()}
                </p>
              ))}
            </div>
          </div>
        )}
      </div>
    </div>
  )
}
