/** The nonce that this page's policy allows styles with: the editor and the dialogs write some. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? ''

// Where the package that locks the page's scrolling below a dialog looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce })
