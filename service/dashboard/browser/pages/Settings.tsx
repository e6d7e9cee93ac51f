import { isFromProvider, isWallet, useSession } from '../api/session.ts'
import { Id, When } from '../parts/values.tsx'
import { Card, Facts, Page } from '../parts/layout.tsx'
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

export default function Settings() {
  const session = useSession()
  if (session.state !== 'in' && session.state !== 'ended') return null
  const { user } = session
  return (
    <Page narrow title="Settings">
      <Profile user={user} />
      {!isWallet(user) && !isFromProvider(user) && <Password user={user} />}
      <Handle />
      <PayoutAddress />
      <Invoicing />
      <RefundPolicy />
      <Brand />
      <Files />
      <Wallets />
      <Sessions />
      <Appearance />
      <Addresses />
    </Page>
  )
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
