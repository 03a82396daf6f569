const place = 'lockstep.project'

/** The id of the project that requests are about; null for the whole tenant. */
export function chosenProject(): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    return null
  }
}

/** Chooses a project, for this browser. */
export function chooseProject(id: string | null): void {
  try {
    if (id === null) localStorage.removeItem(place)
    else localStorage.setItem(place, id)
  } catch {
    // Without storage everything is about the whole tenant.
  }
}
