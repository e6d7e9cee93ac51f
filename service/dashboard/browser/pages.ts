import {
  BellIcon,
  CubeIcon,
  DashboardIcon,
  GearIcon,
  IdCardIcon,
  LightningBoltIcon,
  LockClosedIcon,
  MixerHorizontalIcon,
  MixIcon,
  PersonIcon,
  RocketIcon,
  Share1Icon,
  TokensIcon,
} from '@radix-ui/react-icons'
import { lazy, type ComponentType } from 'react'

const AgentForm = lazy(() => import('./pages/AgentForm.tsx'))
const AssetForm = lazy(() => import('./pages/AssetForm.tsx'))
const PaywallForm = lazy(() => import('./pages/PaywallForm.tsx'))

/** All pages that there are, in the order in which they are named. Each comes with its own piece of the script. */
export const PAGES: readonly Page[] = [
  {
    path: '/',
    name: 'Overview',
    group: '',
    Icon: DashboardIcon,
    routes: [['/', lazy(() => import('./pages/Overview.tsx'))]],
  },
  {
    path: '/start',
    name: 'First steps',
    group: '',
    Icon: RocketIcon,
    routes: [['/start', lazy(() => import('./pages/Start.tsx'))]],
  },
  {
    path: '/assets',
    name: 'Assets',
    group: 'Sell',
    Icon: CubeIcon,
    routes: [
      ['/assets', lazy(() => import('./pages/Assets.tsx'))],
      ['/assets/new', AssetForm],
      ['/assets/:id', lazy(() => import('./pages/Asset.tsx'))],
      ['/assets/:id/edit', AssetForm],
    ],
    ids: 'rda',
    acts: [['Create an asset', '/assets/new']],
  },
  {
    path: '/checkouts',
    name: 'Checkouts',
    group: 'Sell',
    Icon: Share1Icon,
    routes: [
      ['/checkouts', lazy(() => import('./pages/Checkouts.tsx'))],
      ['/checkouts/:id', lazy(() => import('./pages/Checkout.tsx'))],
    ],
    ids: 'chk',
  },
  {
    path: '/paywalls',
    name: 'Paywalls',
    group: 'Sell',
    Icon: IdCardIcon,
    routes: [
      ['/paywalls', lazy(() => import('./pages/Paywalls.tsx'))],
      ['/paywalls/new', PaywallForm],
      ['/paywalls/:id', lazy(() => import('./pages/Paywall.tsx'))],
      ['/paywalls/:id/edit', PaywallForm],
    ],
    ids: 'pwl',
    acts: [['Create a paywall', '/paywalls/new']],
  },
  {
    path: '/marketplace',
    name: 'Marketplace',
    group: 'Use',
    Icon: MixIcon,
    routes: [
      ['/marketplace', lazy(() => import('./pages/Marketplace.tsx'))],
      ['/marketplace/:id', lazy(() => import('./pages/Offer.tsx'))],
    ],
  },
  {
    path: '/catalogue',
    name: 'Tools',
    group: 'Use',
    Icon: MixerHorizontalIcon,
    routes: [
      ['/catalogue', lazy(() => import('./pages/Tools.tsx'))],
      ['/catalogue/:slug', lazy(() => import('./pages/Tool.tsx'))],
    ],
    acts: [['Import tools', '/catalogue?import=1']],
  },
  {
    path: '/runs',
    name: 'Runs',
    group: 'Use',
    Icon: LightningBoltIcon,
    routes: [
      ['/runs', lazy(() => import('./pages/Runs.tsx'))],
      ['/runs/:id', lazy(() => import('./pages/Run.tsx'))],
    ],
    ids: 'run',
  },
  {
    path: '/wallet',
    name: 'Wallet',
    group: 'Money',
    Icon: TokensIcon,
    routes: [['/wallet', lazy(() => import('./pages/Wallet.tsx'))]],
    acts: [
      ['Add funds', '/wallet?do=add'],
      ['Withdraw', '/wallet?do=withdraw'],
    ],
  },
  {
    path: '/agents',
    name: 'Agents',
    group: 'Money',
    Icon: PersonIcon,
    routes: [
      ['/agents', lazy(() => import('./pages/Agents.tsx'))],
      ['/agents/new', AgentForm],
      ['/agents/:id', lazy(() => import('./pages/Agent.tsx'))],
      ['/agents/:id/edit', AgentForm],
    ],
    ids: 'agt',
    acts: [['Create an agent', '/agents/new']],
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    group: 'Account',
    Icon: BellIcon,
    routes: [
      ['/webhooks', lazy(() => import('./pages/Webhooks.tsx'))],
      ['/webhooks/:id', lazy(() => import('./pages/Webhook.tsx'))],
    ],
    ids: 'whe',
    acts: [['Add a webhook endpoint', '/webhooks?new=1']],
  },
  {
    path: '/keys',
    name: 'API keys',
    group: 'Account',
    Icon: LockClosedIcon,
    routes: [['/keys', lazy(() => import('./pages/Keys.tsx'))]],
    acts: [['Create an API key', '/keys?new=1']],
  },
  {
    path: '/settings',
    name: 'Settings',
    group: 'Account',
    Icon: GearIcon,
    routes: [
      ['/settings', lazy(() => import('./pages/Settings.tsx'))],
      ['/settings/email', lazy(() => import('./pages/EmailChange.tsx'))],
    ],
  },
]

export interface Page {
  path: string
  name: string
  group: string
  Icon: ComponentType<{ className?: string }>
  routes: readonly (readonly [string, ComponentType])[]
  /** The prefix of the ids that have a page below this one. */
  ids?: string
  /** What can be begun here, for the palette. */
  acts?: readonly (readonly [string, string])[]
}
