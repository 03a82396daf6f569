import { Outlet } from '@tanstack/react-router'
import { Dialog as Drawer } from 'radix-ui'
import { useState } from 'react'
import { Icon } from '../component/icon.tsx'
import { Toasts } from '../component/toast.tsx'
import { AccountMenu } from './account-menu.tsx'
import { HaltNotice } from './halt-notice.tsx'
import { Navigation } from './navigation.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'

/** What stands around every page of somebody who is signed in. */
export function Shell() {
  const [open, setOpen] = useState(false)
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-md bg-accent px-3 py-2 text-sm font-medium text-on-accent focus:translate-y-0"
      >
        Skip to the content
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center justify-between border-b border-line bg-surface px-3 md:hidden">
        <Brand />
        <Drawer.Root open={open} onOpenChange={setOpen}>
          <Drawer.Trigger aria-label="Menu" className="rounded-md p-2 hover:bg-hover">
            <Icon name="menu" className="size-5" />
          </Drawer.Trigger>
          <Drawer.Portal>
            <Drawer.Overlay className="fixed inset-0 z-40 bg-shade" />
            <Drawer.Content
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-50 flex w-64 flex-col gap-3 border-r border-line bg-surface p-3"
            >
              <Drawer.Title className="sr-only">Menu</Drawer.Title>
              <Side onChosen={() => setOpen(false)} />
            </Drawer.Content>
          </Drawer.Portal>
        </Drawer.Root>
      </header>
      <aside
        aria-label="Places"
        className="sticky top-0 hidden h-dvh w-56 shrink-0 flex-col gap-3 border-r border-line bg-surface p-3 md:flex"
      >
        <Side />
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 grow outline-none">
        <HaltNotice />
        <Outlet />
      </main>
      <Toasts />
    </div>
  )
}

function Side({ onChosen }: { onChosen?: () => void }) {
  return (
    <>
      <Brand />
      <ProjectSwitcher />
      <div className="grow overflow-y-auto">
        <Navigation {...(onChosen === undefined ? {} : { onChosen })} />
      </div>
      <AccountMenu />
    </>
  )
}

/** The name, with the sign that stands in the window's title too. */
export function Brand() {
  return (
    <div className="flex items-center gap-2 px-1.5 py-1 font-semibold">
      <svg viewBox="0 0 32 32" aria-hidden="true" className="size-6">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <path
          d="M9 8v16h5M14 16h9M18 11l5 5-5 5"
          fill="none"
          className="stroke-on-accent"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      Lockstep
    </div>
  )
}
