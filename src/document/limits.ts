/** The most bytes a document may have: about a thousand times a long playbook. */
export const maxDocumentBytes = 1_000_000

/** How deep values may be nested; deeper is refused before anything recursive sees it. */
export const maxDocumentDepth = 64

/** How many values a document may hold: about ten thousand steps. */
export const maxDocumentValues = 200_000
