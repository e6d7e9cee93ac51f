/*
 * All pages of the dashboard, in their display order: the menu, the search, the routes, the addresses that the service
 * answers and the tests use this list.
 */

export interface Page {
  path: string
  name: string
  /** The menu group. */
  group: '' | 'Sell' | 'Buy' | 'Money' | 'Developers' | 'Account'
  icon: string
  /** By the rest of the path: the file in browser/pages/ that is shown there. */
  views: Readonly<Record<string, string>>
  /** The prefix of the ids that have a page below this one. */
  ids?: string
  /** Actions that start on this page, for the search. */
  acts?: readonly (readonly [name: string, to: string])[]
  /** Visitors who have not signed in may read it. */
  open?: true
}

export const PAGES = [
  { path: '/', name: 'Overview', group: '', icon: 'Dashboard', views: { '': 'Overview' } },
  { path: '/start', name: 'First steps', group: '', icon: 'Rocket', views: { '': 'Start' } },
  {
    path: '/assets',
    name: 'Assets',
    group: 'Sell',
    icon: 'Cube',
    views: { '': 'Assets', '/new': 'AssetForm', '/:id': 'Asset', '/:id/edit': 'AssetForm' },
    ids: 'rda',
    acts: [['Create an asset', '/assets/new']],
  },
  {
    path: '/checkouts',
    name: 'Checkouts',
    group: 'Sell',
    icon: 'Share1',
    views: { '': 'Checkouts', '/new': 'CheckoutForm', '/:id': 'Checkout', '/:id/edit': 'CheckoutForm' },
    ids: 'chk',
    acts: [['Create a checkout', '/checkouts/new']],
  },
  {
    path: '/paywalls',
    name: 'Paywalls',
    group: 'Sell',
    icon: 'IdCard',
    views: { '': 'Paywalls', '/new': 'PaywallForm', '/:id': 'Paywall', '/:id/edit': 'PaywallForm' },
    ids: 'pwl',
    acts: [['Create a paywall', '/paywalls/new']],
  },
  {
    path: '/coupons',
    name: 'Coupons',
    group: 'Sell',
    icon: 'Scissors',
    views: { '': 'Coupons' },
    acts: [['Create a coupon', '/coupons?new=1']],
  },
  {
    path: '/marketplace',
    name: 'Marketplace',
    group: 'Buy',
    icon: 'Mix',
    views: { '': 'Marketplace', '/:id': 'Offer' },
    open: true,
  },
  {
    path: '/catalogue',
    name: 'Tools',
    group: 'Buy',
    icon: 'MixerHorizontal',
    views: { '': 'Tools', '/:slug': 'Tool' },
    acts: [['Import tools', '/catalogue?import=1']],
  },
  {
    path: '/connections',
    name: 'Connections',
    group: 'Buy',
    icon: 'Link2',
    views: { '': 'Connections', '/callback': 'ConnectionCallback' },
    acts: [['Connect a provider', '/connections?connect=']],
  },
  {
    path: '/runs',
    name: 'Runs',
    group: 'Buy',
    icon: 'LightningBolt',
    views: { '': 'Runs', '/:id': 'Run' },
    ids: 'run',
  },
  {
    path: '/agents',
    name: 'Agents',
    group: 'Buy',
    icon: 'Person',
    views: { '': 'Agents', '/new': 'AgentForm', '/:id': 'Agent', '/:id/edit': 'AgentForm' },
    ids: 'agt',
    acts: [['Create an agent', '/agents/new']],
  },
  {
    path: '/payments',
    name: 'Payments',
    group: 'Money',
    icon: 'Reader',
    views: { '': 'Payments', '/:id': 'Payment' },
    ids: 'pay',
  },
  {
    path: '/customers',
    name: 'Customers',
    group: 'Money',
    icon: 'Avatar',
    views: { '': 'Customers', '/:id': 'Customer' },
  },
  { path: '/disputes', name: 'Disputes', group: 'Money', icon: 'ChatBubble', views: { '': 'Disputes' } },
  {
    path: '/wallet',
    name: 'Wallet',
    group: 'Money',
    icon: 'Tokens',
    views: { '': 'Wallet' },
    acts: [
      ['Add funds', '/wallet?do=add'],
      ['Withdraw funds', '/wallet?do=withdraw'],
    ],
  },
  {
    path: '/webhooks',
    name: 'Webhooks',
    group: 'Developers',
    icon: 'Bell',
    views: { '': 'Webhooks', '/:id': 'Webhook' },
    ids: 'whe',
    acts: [['Add a webhook endpoint', '/webhooks?new=1']],
  },
  {
    path: '/keys',
    name: 'API keys',
    group: 'Developers',
    icon: 'LockClosed',
    views: { '': 'Keys' },
    acts: [['Create an API key', '/keys?new=1']],
  },
  {
    path: '/settings',
    name: 'Settings',
    group: 'Account',
    icon: 'Gear',
    views: { '': 'Settings', '/email': 'EmailChange' },
    acts: [
      ['Edit your brand', '/settings#selling'],
      ['Set a payout address', '/settings#money'],
    ],
  },
] as const satisfies readonly Page[]

/** Every address with a page, and the page's file. */
export const ROUTES: readonly (readonly [path: string, file: string])[] = PAGES.flatMap(({ path, views }) =>
  Object.entries(views).map(([rest, file]) => [path + rest, file] as const),
)

export function isAt(location: string, path: string): boolean {
  return location === path || (path !== '/' && location.startsWith(`${path}/`))
}
