import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { failedWith } from './server/ask.ts'
import { meQuery } from './server/me.ts'
import { queryClient, whenSignedOut } from './server/query-client.ts'
import { NoSuchPage, RouteProblem, ShellProblem } from './shell/route-problem.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Outlet })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: texts('next'),
  component: lazyRouteComponent(() => import('./page/sign-in/sign-in-page.tsx'), 'SignInPage'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  errorComponent: ShellProblem,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meQuery)
    } catch (error) {
      if (failedWith(error, 'unauthenticated'))
        throw redirect({ to: '/sign-in', search: { next: location.href } })
      throw error
    }
  },
})

const dashboard = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./page/dashboard/dashboard-page.tsx'), 'DashboardPage'),
})

const runs = createRoute({
  getParentRoute: () => shell,
  path: '/runs',
  validateSearch: texts('status', 'mode', 'runbook', 'startedBy', 'search', 'from', 'to'),
  component: lazyRouteComponent(() => import('./page/runs/runs-page.tsx'), 'RunsPage'),
})

const run = createRoute({
  getParentRoute: () => shell,
  path: '/runs/$id',
  validateSearch: texts('tab', 'step'),
  component: lazyRouteComponent(() => import('./page/run/run-page.tsx'), 'RunPage'),
})

const approvals = createRoute({
  getParentRoute: () => shell,
  path: '/approvals',
  validateSearch: texts('state'),
  component: lazyRouteComponent(() => import('./page/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})

const approval = createRoute({
  getParentRoute: () => shell,
  path: '/approvals/$id',
  validateSearch: texts('decide'),
  component: lazyRouteComponent(() => import('./page/approvals/approval-page.tsx'), 'ApprovalPage'),
})

const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  validateSearch: texts('type', 'by', 'search', 'from', 'to'),
  component: lazyRouteComponent(() => import('./page/audit/audit-page.tsx'), 'AuditPage'),
})

const nowhere = createRoute({ getParentRoute: () => shell, path: '$', component: NoSuchPage })

const playbooks = createRoute({
  getParentRoute: () => shell,
  path: '/playbooks',
  validateSearch: texts('search', 'archived'),
  component: lazyRouteComponent(() => import('./page/playbooks/playbooks-page.tsx'), 'PlaybooksPage'),
})

const newPlaybook = createRoute({
  getParentRoute: () => shell,
  path: '/playbooks/new',
  component: lazyRouteComponent(() => import('./page/playbooks/new-playbook-page.tsx'), 'NewPlaybookPage'),
})

const playbook = createRoute({
  getParentRoute: () => shell,
  path: '/playbooks/$id',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./page/playbooks/playbook-page.tsx'), 'PlaybookPage'),
})

const policies = createRoute({
  getParentRoute: () => shell,
  path: '/policies',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./page/policies/policies-page.tsx'), 'PoliciesPage'),
})

const newPolicy = createRoute({
  getParentRoute: () => shell,
  path: '/policies/new',
  component: lazyRouteComponent(() => import('./page/policies/new-policy-page.tsx'), 'NewPolicyPage'),
})

const policy = createRoute({
  getParentRoute: () => shell,
  path: '/policies/$id',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./page/policies/policy-page.tsx'), 'PolicyPage'),
})

const analytics = createRoute({
  getParentRoute: () => shell,
  path: '/analytics',
  validateSearch: texts('range'),
  component: lazyRouteComponent(() => import('./page/analytics/analytics-page.tsx'), 'AnalyticsPage'),
})

const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./page/settings/settings-page.tsx'), 'SettingsPage'),
})

/** Every page there is. Each is loaded when it is visited. */
export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      dashboard,
      playbooks,
      newPlaybook,
      playbook,
      runs,
      run,
      approvals,
      approval,
      policies,
      newPolicy,
      policy,
      analytics,
      audit,
      settings,
      nowhere,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: RouteProblem,
  defaultNotFoundComponent: NoSuchPage,
  scrollRestoration: true,
  // Addresses are plain: a value in one is a text, never JSON.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const pairs = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '')
    return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs as [string, string][]).toString()}`
  },
})

whenSignedOut(() => {
  const { location } = router.state
  if (location.pathname.endsWith('/sign-in')) return
  queryClient.clear()
  void router.navigate({ to: '/sign-in', search: { next: location.href } })
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** Keeps the named values of an address, and only those that are there. */
function texts<Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string } => {
    const kept = names.filter((name) => typeof search[name] === 'string' && search[name] !== '')
    return Object.fromEntries(kept.map((name) => [name, search[name]])) as { [Key in Name]?: string }
  }
}
