import { useQuery } from '@tanstack/react-query'
import { Table, type Column } from '../../component/table.tsx'
import { ask, type Answer } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'

type Price = Answer<'GET /models'>['prices'][number]

const dollars = (perToken: number) =>
  `$${(perToken * 1_000_000).toLocaleString('en', { maximumFractionDigits: 4 })}`

const columns: readonly Column<Price>[] = [
  { id: 'model', label: 'Model', sortBy: ({ model }) => model, cell: ({ model }) => <code>{model}</code> },
  {
    id: 'in',
    label: 'Input, per million tokens',
    align: 'end',
    sortBy: ({ inputUsd }) => inputUsd,
    cell: ({ inputUsd }) => dollars(inputUsd),
  },
  {
    id: 'out',
    label: 'Output, per million tokens',
    align: 'end',
    sortBy: ({ outputUsd }) => outputUsd,
    cell: ({ outputUsd }) => dollars(outputUsd),
  },
  { id: 'source', label: 'From', wide: true, cell: ({ source }) => source },
]

/** The model that runs use, and what models cost. Both are set where the gateway is started. */
export function ModelsPanel() {
  const query = useQuery({ queryKey: ['models'], queryFn: ({ signal }) => ask('GET /models', { signal }) })
  return (
    <Loaded query={query} lines={6}>
      {({ current, prices }) => (
        <div className="flex flex-col gap-3">
          <p className="text-sm">
            Runs use <code>{current}</code>, unless they name another. It is set where the gateway is started:
            see <code>lockstep config</code>.
          </p>
          <Table label="Prices" rows={prices} columns={columns} keyOf={({ model }) => model} />
        </div>
      )}
    </Loaded>
  )
}
