import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../component/button.tsx'
import { TextField } from '../../component/field.tsx'
import { Problem } from '../../component/problem.tsx'
import { Table, type Column } from '../../component/table.tsx'
import { Time } from '../../component/time.tsx'
import { ask, type ItemOf } from '../../server/ask.ts'
import { Loaded } from '../../server/loaded.tsx'
import { useMay } from '../../server/me.ts'
import { ConfirmButton } from './confirm-button.tsx'
import { useChange } from './use-change.ts'

type Project = ItemOf<'GET /projects'>
const stale = [['projects'], ['me']] as const

/** The projects of the tenant. */
export function ProjectsPanel() {
  const mayWrite = useMay('project:write')
  const [name, setName] = useState('')
  const query = useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => ask('GET /projects', { signal }),
  })
  const make = useChange(() => ask('POST /projects', { body: { name } }), {
    said: 'The project is made.',
    stale,
    done: () => setName(''),
  })
  const remove = useChange((id: string) => ask('DELETE /projects/{id}', { params: { id } }), {
    said: 'The project is removed.',
    stale,
  })
  const columns: readonly Column<Project>[] = [
    { id: 'name', label: 'Project', sortBy: (project) => project.name, cell: (project) => project.name },
    { id: 'id', label: 'Id', wide: true, cell: ({ id }) => <code>{id}</code> },
    { id: 'at', label: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
    ...(mayWrite
      ? [
          {
            id: 'remove',
            label: 'Remove',
            align: 'end' as const,
            cell: (project: Project) => (
              <ConfirmButton
                label="Remove"
                title={`Remove ${project.name}?`}
                about="Only a project that holds nothing can be removed."
                busy={remove.isPending}
                onConfirm={() => remove.mutate(project.id)}
              />
            ),
          },
        ]
      : []),
  ]
  return (
    <div className="flex flex-col gap-3">
      {mayWrite && (
        <form
          className="flex flex-wrap items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            make.mutate(undefined)
          }}
        >
          <div className="w-64">
            <TextField
              label="New project"
              value={name}
              required
              maxLength={200}
              onChange={(event) => setName(event.target.value)}
            />
          </div>
          <Button type="submit" icon="plus" busy={make.isPending}>
            Make project
          </Button>
        </form>
      )}
      {(make.error ?? remove.error) !== null && <Problem error={make.error ?? remove.error} />}
      <Loaded query={query} lines={3}>
        {({ items }) => <Table label="Projects" rows={items} columns={columns} keyOf={({ id }) => id} />}
      </Loaded>
    </div>
  )
}
