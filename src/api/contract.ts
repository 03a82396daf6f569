import { accessRoutes } from './access-routes.ts'
import { authRoutes, meRoutes } from './sign-in-routes.ts'
import { analyticsRoutes, auditRoutes } from './record-routes.ts'
import { approvalRoutes, haltRoutes, runRoutes, toolRoutes } from './run-routes.ts'
import { systemRoutes, webhookRoutes } from './system-routes.ts'
import { policyRoutes, runbookRoutes } from './text-routes.ts'

/** Every route there is, by its name. */
export const contract = {
  ...systemRoutes,
  ...authRoutes,
  ...meRoutes,
  ...accessRoutes,
  ...runbookRoutes,
  ...policyRoutes,
  ...runRoutes,
  ...haltRoutes,
  ...toolRoutes,
  ...approvalRoutes,
  ...auditRoutes,
  ...analyticsRoutes,
  ...webhookRoutes,
} as const

export type Contract = typeof contract
export type RouteName = keyof Contract
