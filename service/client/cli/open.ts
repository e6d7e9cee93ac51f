import { signInServer } from './device.ts'
import { clientOf, openPage, parse, UsageError, type Command, type Terminal } from './terminal.ts'

/** Opens a page in the browser. Into a pipe, and where there is no browser, it prints the address. */
export const open: Command = async (terminal, words) => {
  const { positionals } = parse(words, {})
  const [what = 'dashboard', ...more] = positionals
  const address = await addressOf(terminal, what, more)
  if (terminal.json) terminal.print(JSON.stringify({ url: address }))
  else if (process.stdout.isTTY && (await openPage(address))) terminal.note(`Opened ${address}`)
  else terminal.print(address)
}

async function addressOf(terminal: Terminal, what: string, [name, ...more]: readonly string[]): Promise<string> {
  if (more.length > 0) throw new UsageError('Name one page. See coinslot help.')
  const { url } = terminal.settings
  if (url === undefined || !URL.canParse(url))
    throw new UsageError('There is no server. Run coinslot login, or set COINSLOT_URL.')
  if (what.startsWith('chk_') && name === undefined) {
    return (await clientOf(terminal).checkouts.get(what, { signal: terminal.stopped })).url
  }
  if (what === 'docs') return new URL(name === undefined ? '/docs' : `/docs/${encodeURIComponent(name)}`, url).href
  if (what === 'errors')
    return new URL(name === undefined ? '/errors' : `/errors/${encodeURIComponent(name)}`, url).href
  if (name !== undefined || !(what === 'dashboard' || PAGES.includes(what))) {
    throw new UsageError(`There is no page ${[what, name ?? ''].join(' ').trim()}. See coinslot help.`)
  }
  const { dashboard } = await signInServer(url, terminal.stopped)
  return what === 'dashboard' ? `${dashboard}/` : `${dashboard}/${what}`
}

/** Those of the dashboard that its navigation lists. */
const PAGES = [
  ...['start', 'assets', 'checkouts', 'paywalls', 'coupons', 'disputes', 'marketplace', 'catalogue', 'connections'],
  ...['runs', 'payments', 'customers', 'wallet', 'agents', 'webhooks', 'keys', 'settings'],
]

export const OPENED = ['dashboard', 'docs', 'errors', ...PAGES]
