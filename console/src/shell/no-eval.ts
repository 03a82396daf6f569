// The page's policy forbids making code at run time. zod would try, once, and fall back; it is told here, before any of it is loaded.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })

export {}
