/** The page's policy forbids making code at run time. zod would try, once, and fall back; it is told here, before any of it is loaded. */
export const noEval = { jitless: true } as const

Object.assign(globalThis, { __zod_globalConfig: noEval })
