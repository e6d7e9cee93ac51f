import type { Deliveries } from '../deliveries/service/deliveries.ts'
import type { Mailer } from '../identity/ports.ts'
import { isLocalAddress } from '../kit/http.ts'
import { echo } from '../sandbox/echo.ts'
import { inboxMailer, inboxPage } from '../sandbox/inbox.ts'
import { createMessageStore } from '../sandbox/store.ts'
import type { Platform, Part } from './platform.ts'

/** The pages for a developer's own machine; a live server, or one with a public address, has none of them. */
export function openSandbox(platform: Platform, deliveries: Deliveries): Part {
  const { database, clock } = platform
  if (inboxAddress(platform) === null) return {}
  const store = createMessageStore(database.statements)
  const receiver = echo({ store, clock, signatureOf: (...signed) => deliveries.signatureOf(...signed) })
  return {
    mounted: [
      { role: 'dashboard', path: '/inbox', handler: inboxPage(store) },
      // Any process that a delivery may reach.
      { role: 'dashboard', path: '/demo/echo', handler: receiver },
    ],
  }
}

/** Where mails go while there is no mail server; null where no inbox can show them. */
export function sandboxMailer(platform: Platform): Mailer | null {
  const { database, clock, log } = platform
  const inbox = inboxAddress(platform)
  if (inbox === null) return null
  const terminal = (text: string): void => {
    if (platform.config.LOG_LEVEL !== 'silent') process.stdout.write(text)
  }
  return inboxMailer({ store: createMessageStore(database.statements), clock, log, inbox, terminal })
}

/** Null where this service has no pages for a developer's own machine. */
export function inboxAddress({ config }: Platform): string | null {
  const { dashboard } = config.addresses
  return config.LIVE || !isLocalAddress(dashboard) ? null : new URL('/inbox', dashboard).href
}
