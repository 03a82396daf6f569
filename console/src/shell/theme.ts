const place = 'lockstep.theme'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** The theme that was chosen in this browser. `public/theme.js` applies it before the first paint. */
export function chosenTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Applies a theme, and keeps it for this browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    if (theme === 'system') localStorage.removeItem(place)
    else localStorage.setItem(place, theme)
  } catch {
    // It holds until the page is closed.
  }
}
