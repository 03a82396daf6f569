import type { analyticsRoutes, auditRoutes } from '../api/record-routes.ts'
import type { approvalRoutes, haltRoutes, runRoutes, toolRoutes } from '../api/run-routes.ts'
import { analyticsHandlers } from './analytics-routes.ts'
import { approvalHandlers } from './approval-routes.ts'
import { auditHandlers } from './audit-routes.ts'
import { haltHandlers } from './halt-routes.ts'
import type { HandlersOf } from './handler.ts'
import { runHandlers } from './run-routes.ts'
import type { RunSetup } from './run-setup.ts'
import { toolHandlers } from './tool-routes.ts'

type RunFamily = typeof runRoutes &
  typeof haltRoutes &
  typeof toolRoutes &
  typeof approvalRoutes &
  typeof auditRoutes &
  typeof analyticsRoutes

/** Answers everything about runs: they themselves, what they wait for, what they left behind. */
export function runFamilyHandlers(setup: RunSetup): HandlersOf<keyof RunFamily> {
  return {
    ...runHandlers(setup),
    ...haltHandlers(setup),
    ...toolHandlers(setup),
    ...approvalHandlers(setup),
    ...auditHandlers(setup),
    ...analyticsHandlers(setup),
  }
}
