import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type KeyboardEvent, type SyntheticEvent } from 'react'
import { Badge } from '../../component/badge.tsx'
import { Button } from '../../component/button.tsx'
import { TextArea } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Time } from '../../component/time.tsx'
import { ask } from '../../server/ask.ts'
import { useMay } from '../../server/me.ts'
import type { RunPage as Run } from '../../../../src/api/run-fold.ts'
import { isOver } from './use-live-run.ts'

const sides = {
  person: 'ml-auto bg-accent-soft',
  playbook: 'mr-auto bg-sunken',
  model: 'mr-auto bg-sunken',
} as const

/** What was said between a playbook and a person, and a box to answer in while it asks. */
export function Conversation({ run }: { run: Run }) {
  const asks = run.waitsFor.some(({ kind }) => kind === 'answer')
  const may = useMay('run:start')
  return (
    <div className="flex flex-col gap-3">
      <ol className="flex flex-col gap-2" aria-label="Conversation" aria-live="polite">
        {run.conversation.map((message) => (
          <li key={message.seq} className={`max-w-[85%] rounded-lg px-3 py-2 text-sm ${sides[message.from]}`}>
            <p className="break-words whitespace-pre-wrap">{message.text}</p>
            <p className="mt-1 flex items-center gap-2 text-xs text-muted">
              {message.from === 'model' ? (
                <Badge tone="accent" icon="model">
                  written by a model
                </Badge>
              ) : (
                message.from
              )}
              <Time at={message.at} />
            </p>
          </li>
        ))}
      </ol>
      {/* Each question has a box of its own: what is on its way to one does not hold up the next. */}
      {asks && may && !isOver(run.status) && (
        <AnswerBox key={run.conversation.at(-1)?.seq ?? 0} id={run.id} />
      )}
    </div>
  )
}

function AnswerBox({ id }: { id: string }) {
  const [text, setText] = useState('')
  const queries = useQueryClient()
  const answer = useMutation({
    mutationFn: () => ask('POST /runs/{id}/messages', { params: { id }, body: { text: text.trim() } }),
    onSuccess: () => {
      setText('')
      return queries.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  const send = (event: SyntheticEvent) => {
    event.preventDefault()
    if (text.trim() !== '' && !answer.isPending) answer.mutate()
  }
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send(event)
  }
  return (
    <form onSubmit={send} className="flex flex-col gap-2">
      {answer.error !== null && <Problem error={answer.error} />}
      <TextArea
        label="Your answer"
        hint="Ctrl + Enter sends it."
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={sendByKey}
      />
      <div>
        <Button look="main" type="submit" busy={answer.isPending} disabled={text.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  )
}
