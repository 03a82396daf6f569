import { z } from 'zod'

/** A moment, ISO 8601 in UTC. */
export const time = z.iso.datetime().describe('ISO 8601, UTC')
/** A name that people read. */
export const title = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine((text) => !/\p{Cc}/u.test(text), { error: 'must be one line without control characters' })
/** Something that identifies a thing in a path. */
export const id = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\s/\p{Cc}]+$/u)
/** Any JSON object. */
export const object = z.record(z.string(), z.json())
/** Where a list goes on, and how much of it is wanted. */
export const paging = {
  cursor: z.string().max(500).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
}

/** A part of a list; `next` is the cursor of what follows, null at the end. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), next: z.string().nullable() })
}

/** What an error says, as application/problem+json. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  hint: z.string().nullable(),
  requestId: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

/** A problem as it is sent. */
export type Problem = z.infer<typeof problem>
