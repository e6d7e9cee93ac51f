import * as Dialog from '@radix-ui/react-dialog'
import { Cross2Icon, HamburgerMenuIcon, MagnifyingGlassIcon } from '@radix-ui/react-icons'
import { lazy, Suspense, useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { useChanges } from '../api/changes.ts'
import { useSession, type SignedIn } from '../api/session.ts'
import { isAt, PAGES } from '../../pages.ts'
import { ICONS } from './icons.ts'
import { IconButton } from '../parts/Button.tsx'
import { Account } from './Account.tsx'
import { Coin } from './OpenShell.tsx'
import { Connection } from './Connection.tsx'
import { EnvironmentSwitch } from './EnvironmentSwitch.tsx'

const Palette = lazy(() => import('./Palette.tsx'))

/** The frame around every page: the menu, the environment, the account. */
export function Shell({ user, children }: { user: SignedIn; children: ReactNode }) {
  const [palette, setPalette] = useState(false)
  const [menu, setMenu] = useState(false)
  const [location] = useLocation()
  const main = useRef<HTMLElement>(null)
  const before = useRef(location)
  useChanges(useSession().state === 'in')

  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        setPalette(true)
      }
    }
    window.addEventListener('keydown', open)
    return () => window.removeEventListener('keydown', open)
  }, [])

  // Screen readers and keyboards continue at the start of the new page.
  useEffect(() => {
    if (before.current === location) return
    before.current = location
    setMenu(false)
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [location])

  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14rem_minmax(0,1fr)]">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-paper px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-side lg:flex">
        <Mark />
        <Navigation />
      </aside>
      <div className="flex min-w-0 flex-col">
        <header className="sticky top-0 z-30 flex h-14 items-center gap-2 border-b border-line bg-paper px-3 sm:px-6">
          <IconButton label="Menu" className="lg:hidden" onClick={() => setMenu(true)}>
            <HamburgerMenuIcon />
          </IconButton>
          <button
            type="button"
            onClick={() => setPalette(true)}
            className="flex h-8 min-w-8 items-center gap-2 rounded-[7px] border border-line bg-side px-2 text-[0.8125rem] text-quiet hover:bg-sunk sm:w-64"
          >
            <MagnifyingGlassIcon />
            <span className="max-sm:sr-only">Search</span>
            <kbd
              aria-hidden
              className="ml-auto rounded border border-line bg-paper px-1.5 font-sans text-[0.6875rem] max-sm:hidden"
            >
              {MAC ? '⌘' : 'Ctrl '}K
            </kbd>
          </button>
          <div className="ml-auto flex items-center gap-2">
            <EnvironmentSwitch />
            <Account user={user} />
          </div>
        </header>
        <Connection />
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          className="mx-auto w-full max-w-6xl min-w-0 flex-1 px-4 py-6 outline-none sm:px-6 lg:py-8"
        >
          {children}
        </main>
      </div>
      <Dialog.Root open={menu} onOpenChange={setMenu}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 animate-fade bg-cover lg:hidden" />
          <Dialog.Content
            aria-describedby={undefined}
            className="fixed inset-y-0 left-0 z-40 flex w-64 animate-fade flex-col bg-side shadow-lift lg:hidden"
          >
            <Dialog.Title className="sr-only">Menu</Dialog.Title>
            <div className="flex items-center justify-between pr-2">
              <Mark />
              <Dialog.Close asChild>
                <IconButton label="Close the menu">
                  <Cross2Icon />
                </IconButton>
              </Dialog.Close>
            </div>
            <Navigation />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      {palette && (
        <Suspense>
          <Palette close={() => setPalette(false)} />
        </Suspense>
      )}
    </div>
  )
}

const MAC = navigator.platform.startsWith('Mac')

function Mark() {
  return (
    <Link to="/" className="flex h-14 items-center gap-2 px-5 font-semibold tracking-tight">
      <Coin /> Coinslot
    </Link>
  )
}

function Navigation() {
  const [location] = useLocation()
  // The menu is there twice: beside the page, and in the dialog of a telephone.
  const id = useId()
  const groups = [...new Set(PAGES.map(({ group }) => group))]
  return (
    <nav aria-label="Pages" className="flex-1 overflow-y-auto px-3 pb-4">
      {groups.map((group) => (
        <div key={group} className="mt-4 first:mt-1">
          {group !== '' && (
            <p id={`${id} ${group}`.replaceAll(' ', '-')} className="px-2 pb-1 text-xs font-medium text-quiet">
              {group}
            </p>
          )}
          <ul aria-labelledby={group === '' ? undefined : `${id} ${group}`.replaceAll(' ', '-')}>
            {PAGES.filter((page) => page.group === group).map(({ path, name, icon }) => {
              const here = isAt(location, path)
              const Icon = ICONS[icon]
              return (
                <li key={path}>
                  <Link
                    to={path}
                    aria-current={here ? 'page' : undefined}
                    className={`flex h-8 items-center gap-2.5 rounded-md px-2 ${here ? 'bg-accent-soft font-medium text-accent-deep' : 'text-ink hover:bg-sunk'}`}
                  >
                    <Icon className={here ? '' : 'text-quiet'} />
                    {name}
                  </Link>
                </li>
              )
            })}
          </ul>
        </div>
      ))}
    </nav>
  )
}
