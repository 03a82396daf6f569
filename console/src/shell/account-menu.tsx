import { useState } from 'react'
import { Icon } from '../component/icon.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine, MenuNote } from '../component/menu.tsx'
import { toast } from '../component/toast.tsx'
import { ask, tellError } from '../server/ask.ts'
import { useMe } from '../server/me.ts'
import { chooseTheme, chosenTheme } from './theme.ts'

/** Who is signed in, how they look at the console, and the way out. */
export function AccountMenu() {
  const me = useMe()
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <Menu
      className="flex w-full items-center gap-2 rounded-md px-2.5 py-1.5 text-left hover:bg-hover"
      trigger={
        <>
          <Icon name="person" className="size-5 text-muted" />
          <span className="min-w-0 grow">
            <span className="block truncate text-sm font-medium">
              <span className="sr-only">Account: </span>
              {me.name}
            </span>
            <span className="block truncate text-xs text-muted">{describeRoles(me.roles)}</span>
          </span>
        </>
      }
    >
      <MenuNote>
        {me.email ?? me.name}
        <span className="block text-xs">signed in by {me.how.replaceAll('_', ' ')}</span>
      </MenuNote>
      <MenuLine />
      <MenuChoice
        label="Theme"
        value={theme}
        onChange={(chosen) => {
          chooseTheme(chosen)
          setTheme(chosen)
        }}
        options={[
          { value: 'system', label: 'As the system' },
          { value: 'light', label: 'Light' },
          { value: 'dark', label: 'Dark' },
        ]}
      />
      <MenuLine />
      <MenuItem icon="right" onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}

function describeRoles(roles: readonly { readonly role: string }[]): string {
  const names = [...new Set(roles.map(({ role }) => role))]
  return names.length === 0 ? 'no role' : names.join(', ')
}

async function signOut(): Promise<void> {
  try {
    await ask('POST /auth/sign-out')
    // A fresh page forgets everything that was read.
    location.assign(`${import.meta.env.BASE_URL}sign-in`)
  } catch (error) {
    toast(tellError(error), 'bad')
  }
}
