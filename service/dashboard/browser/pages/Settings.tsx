import { useEffect } from 'react'
import { useLocationProperty } from 'wouter/use-browser-location'
import { isFromProvider, isWallet, useSession } from '../api/session.ts'
import { Id, When } from '../parts/values.tsx'
import { Card, CardGroup, Facts, Page } from '../parts/layout.tsx'
import { settings } from '../settings.ts'
import { chooseTheme, THEMES, useTheme } from '../shell/theme.ts'
import { Brand } from './settings/Brand.tsx'
import { Files } from './settings/Files.tsx'
import { Handle } from './settings/Handle.tsx'
import { Invoicing } from './settings/Invoicing.tsx'
import { Password } from './settings/Password.tsx'
import { PayoutAddress } from './settings/PayoutAddress.tsx'
import { Profile } from './settings/Profile.tsx'
import { RefundPolicy } from './settings/RefundPolicy.tsx'
import { Sessions } from './settings/Sessions.tsx'
import { Wallets } from './settings/Wallets.tsx'

/** What can be set, in groups. Each has an address of its own, `#selling` for instance. */
export default function Settings() {
  const session = useSession()
  const user = session.state === 'in' || session.state === 'ended' ? session.user : null
  useLinkedGroup(user !== null)
  if (user === null) return null
  return (
    <Page title="Settings">
      <div className="gap-8 lg:grid lg:grid-cols-[11rem_minmax(0,48rem)]">
        <GroupLinks />
        <div className="space-y-10">
          <CardGroup {...GROUPS.account}>
            <Profile user={user} />
            {!isWallet(user) && !isFromProvider(user) && <Password user={user} />}
            <Wallets />
            <Sessions />
          </CardGroup>
          <CardGroup {...GROUPS.selling}>
            <Brand />
            <Handle />
            <RefundPolicy />
            <Files />
          </CardGroup>
          <CardGroup {...GROUPS.money}>
            <PayoutAddress />
            <Invoicing />
          </CardGroup>
          <CardGroup {...GROUPS.browser}>
            <Appearance />
            <Addresses />
          </CardGroup>
        </div>
      </div>
    </Page>
  )
}

const GROUPS = {
  account: { id: 'account', title: 'Account', intro: 'Who you are, and how you sign in.' },
  selling: { id: 'selling', title: 'Selling', intro: 'What your customers see, and what you promise them.' },
  money: { id: 'money', title: 'Payouts and invoices', intro: 'Where your money goes, and what your invoices say.' },
  browser: {
    id: 'browser',
    title: 'This dashboard',
    intro: 'How it looks in this browser, and the addresses of its server.',
  },
} as const

function GroupLinks() {
  const hash = useHash()
  return (
    <nav aria-label="Settings" className="mb-6 lg:sticky lg:top-20 lg:mb-0 lg:self-start">
      <ul className="flex flex-wrap gap-x-4 gap-y-1 lg:flex-col">
        {Object.values(GROUPS).map(({ id, title }) => (
          <li key={id}>
            <a
              href={`#${id}`}
              aria-current={hash === `#${id}` ? 'location' : undefined}
              className={`block rounded-md py-1.5 hover:text-ink ${hash === `#${id}` ? 'font-medium text-accent-deep' : 'text-quiet'}`}
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const useHash = (): string => useLocationProperty(() => window.location.hash)

/** The group in the address: the browser looked for it before the page was there. */
function useLinkedGroup(isShown: boolean): void {
  const hash = useHash()
  useEffect(() => {
    if (!isShown || hash === '') return
    // After the page's frame has scrolled to its top.
    const frame = requestAnimationFrame(() => document.getElementById(hash.slice(1))?.scrollIntoView())
    return () => cancelAnimationFrame(frame)
  }, [isShown, hash])
}

function Appearance() {
  const theme = useTheme()
  return (
    <Card title="Appearance">
      <fieldset className="flex flex-wrap gap-x-6 gap-y-2">
        <legend className="sr-only">Theme</legend>
        {THEMES.map(([value, name]) => (
          <label key={value} className="flex items-center gap-2">
            <input
              type="radio"
              name="theme"
              className="size-4 accent-accent"
              checked={theme === value}
              onChange={() => chooseTheme(value)}
            />
            {name}
          </label>
        ))}
      </fieldset>
    </Card>
  )
}

function Addresses() {
  return (
    <Card title="This server">
      <Facts
        facts={[
          ['API', <Id key="api" value={settings.apiUrl} whole />],
          ['Tools', <Id key="tools" value={settings.toolsUrl} whole />],
          [
            'Reference',
            <a key="docs" href="/docs" className="link">
              Every endpoint, to try out
            </a>,
          ],
          ['Its clock', <When key="now" at={settings.now} />],
        ]}
      />
    </Card>
  )
}
