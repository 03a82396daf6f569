import { useEffect, useState } from 'react'

const place = 'lockstep.keys'

/**
 * Listens for single letters on a page. Not while somebody writes, nor while a dialog is open, nor together with other
 * keys; and not at all for whoever switched them off, since speech input presses letters by accident.
 */
export function useKeys(keys: Readonly<Record<string, () => void>>): { on: boolean; toggle: () => void } {
  const [on, setOn] = useState(() => readSetting())
  useEffect(() => {
    if (!on) return undefined
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (!(event.target instanceof HTMLElement)) return
      if (event.target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]'))
        return
      const action = keys[event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [on, keys])
  return {
    on,
    toggle: () => {
      writeSetting(!on)
      setOn(!on)
    },
  }
}

function readSetting(): boolean {
  try {
    return localStorage.getItem(place) !== 'off'
  } catch {
    return true
  }
}

function writeSetting(on: boolean): void {
  try {
    localStorage.setItem(place, on ? 'on' : 'off')
  } catch {
    // It holds until the page is closed.
  }
}
