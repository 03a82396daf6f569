import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Permission } from '../../../../src/api/permission.ts'
import { Tabs } from '../../component/tabs.tsx'
import { useMe } from '../../server/me.ts'
import { Page } from '../../shell/page.tsx'
import { KeysPanel } from './keys-panel.tsx'
import { MembersPanel } from './members-panel.tsx'
import { ModelsPanel } from './models-panel.tsx'
import { ProfilePanel } from './profile-panel.tsx'
import { ProjectsPanel } from './projects-panel.tsx'
import { SecretsPanel } from './secrets-panel.tsx'
import { SessionsPanel } from './sessions-panel.tsx'
import { WebhooksPanel } from './webhooks-panel.tsx'

const route = getRouteApi('/shell/settings')

const panels = {
  profile: { label: 'Profile', needs: null, content: <ProfilePanel /> },
  sessions: { label: 'Sessions', needs: null, content: <SessionsPanel /> },
  members: { label: 'Members and roles', needs: 'member:read', content: <MembersPanel /> },
  projects: { label: 'Projects', needs: 'project:read', content: <ProjectsPanel /> },
  keys: { label: 'API keys', needs: 'apikey:read', content: <KeysPanel /> },
  webhooks: { label: 'Webhooks', needs: 'webhook:read', content: <WebhooksPanel /> },
  models: { label: 'Models and prices', needs: 'tool:read', content: <ModelsPanel /> },
  secrets: { label: 'Secrets', needs: 'secret:read', content: <SecretsPanel /> },
} as const satisfies Record<string, { label: string; needs: Permission | null; content: ReactNode }>

type Panel = keyof typeof panels

/** One's own account, and what the tenant is set to. */
export function SettingsPage() {
  const { permissions, kind } = useMe()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const shown = (Object.keys(panels) as Panel[]).filter((name) => {
    const { needs } = panels[name]
    return needs === null ? kind === 'user' : permissions.includes(needs)
  })
  const tab = shown.find((name) => name === search.tab) ?? shown[0]!
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={shown.map((value) => ({ value, label: panels[value].label, content: panels[value].content }))}
      />
    </Page>
  )
}
