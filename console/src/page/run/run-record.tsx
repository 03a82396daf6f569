import { useQuery } from '@tanstack/react-query'
import { Button } from '../../component/button.tsx'
import { Card, Facts } from '../../component/card.tsx'
import { JsonBlock } from '../../component/code-block.tsx'
import { DownloadLink } from '../../component/download-link.tsx'
import { formatCount } from '../../component/format-number.ts'
import { Problem } from '../../component/problem.tsx'
import { StatusBadge } from '../../component/status-badge.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import type { RunPage as Run } from '../../../../src/api/run-fold.ts'

/** The record of a run: decided again on demand, and to take away. */
export function RunRecord({ run }: { run: Run }) {
  const proof = useQuery({
    queryKey: ['runs', 'proof', run.id],
    queryFn: ({ signal }) => ask('GET /runs/{id}/verify', { params: { id: run.id }, signal }),
    enabled: false,
  })
  return (
    <div className="flex flex-col gap-4">
      <Card
        title="Verify"
        actions={
          <Button small icon="approval" busy={proof.isFetching} onClick={() => void proof.refetch()}>
            Decide everything again
          </Button>
        }
      >
        {proof.error !== null && <Problem error={proof.error} />}
        {proof.data === undefined ? (
          <p className="text-sm text-muted">
            Every verdict in the record is worked out again from what was known at the time, and compared.
          </p>
        ) : (
          <ProofResult proof={proof.data} />
        )}
      </Card>
      <Card title="Take away">
        <div className="flex flex-wrap gap-2">
          <DownloadLink path={`/runs/${encodeURIComponent(run.id)}/export?format=jsonl`}>
            Record (JSON lines)
          </DownloadLink>
          <DownloadLink path={`/runs/${encodeURIComponent(run.id)}/export?format=html`}>
            Page to read (HTML)
          </DownloadLink>
        </div>
        <p className="mt-2 text-sm text-muted">
          <code>lockstep verify</code> checks the record on any machine, without this gateway.
        </p>
      </Card>
      <Card title="Inputs">
        <JsonBlock value={run.inputs} label="Inputs" />
      </Card>
    </div>
  )
}

/** A verdict about a record, with everything that speaks against it. */
export function ProofResult({ proof }: { proof: Answer<'GET /runs/{id}/verify'> }) {
  return (
    <div className="flex flex-col gap-2" role="status">
      <Facts
        facts={[
          ['Verdict', <StatusBadge key="verdict" status={proof.verdict} />],
          ['Decisions', formatCount(proof.decisions)],
        ]}
      />
      <Lines title="Problems" lines={proof.problems.map(tellFlaw)} bad />
      <Lines title="Not recomputable" lines={proof.notRecomputable} />
      <Lines title="Not proven" lines={proof.notProven} />
    </div>
  )
}

/** A flaw of a record in one line. */
export function tellFlaw({
  chain,
  seq,
  message,
}: {
  chain: string
  seq: number | null
  message: string
}): string {
  return `${chain}${seq === null ? '' : ` entry ${seq}`}: ${message}`
}

/** A list under a heading; nothing where it is empty. */
export function Lines({
  title,
  lines,
  bad = false,
}: {
  title: string
  lines: readonly string[]
  bad?: boolean
}) {
  if (lines.length === 0) return null
  return (
    <div>
      <h3 className={`text-xs font-medium ${bad ? 'text-bad' : 'text-muted'}`}>{title}</h3>
      <ul className="list-disc pl-5 text-sm">
        {lines.map((line) => (
          <li key={line} className="break-words">
            {line}
          </li>
        ))}
      </ul>
    </div>
  )
}
