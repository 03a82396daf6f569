import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { Permission } from '../../../src/api/permission.ts'
import { ask, failedWith, keepCsrfToken, type Answer } from './ask.ts'
import { chooseProject, chosenProject } from './chosen-project.ts'

export type Me = Answer<'GET /me'>

/** Who is signed in, and what they may do. A project that is gone is forgotten. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  staleTime: 60_000,
  queryFn: async (): Promise<Me> => {
    const me = await askMe()
    keepCsrfToken(me.csrfToken)
    return me
  },
})

async function askMe(): Promise<Me> {
  try {
    return await ask('GET /me')
  } catch (error) {
    if (chosenProject() === null || !failedWith(error, 'not_found')) throw error
    chooseProject(null)
    return await ask('GET /me')
  }
}

/** Who is signed in; for pages inside the shell, where it is known. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** Whether whoever is signed in may do something. The gateway decides; this only hides what it would refuse. */
export function useMay(permission: Permission): boolean {
  return useMe().permissions.includes(permission)
}
