import { Icon } from '../component/icon.tsx'
import { Menu, MenuChoice } from '../component/menu.tsx'
import { chooseProject, chosenProject } from '../server/chosen-project.ts'
import { useMe } from '../server/me.ts'
import { queryClient } from '../server/query-client.ts'

const everything = ''

/** Chooses which project the console is about; everything on the page is asked again for it. */
export function ProjectSwitcher() {
  const { projects, tenant } = useMe()
  const chosen = chosenProject()
  const name = projects.find(({ id }) => id === chosen)?.name ?? 'All projects'
  const choose = (id: string) => {
    chooseProject(id === everything ? null : id)
    void queryClient.invalidateQueries()
  }
  return (
    <Menu
      className="flex w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 py-1.5 text-left hover:bg-hover"
      trigger={
        <>
          <span className="min-w-0 grow">
            <span className="block truncate text-xs text-muted">{tenant.name}</span>
            <span className="block truncate text-sm font-medium">
              <span className="sr-only">Project: </span>
              {name}
            </span>
          </span>
          <Icon name="down" className="size-3.5 text-muted" />
        </>
      }
    >
      <MenuChoice
        label="Project"
        value={chosen ?? everything}
        onChange={choose}
        options={[
          { value: everything, label: 'All projects' },
          ...projects.map(({ id, name: label }) => ({ value: id, label })),
        ]}
      />
    </Menu>
  )
}
