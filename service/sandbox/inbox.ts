import type { RequestHandler } from 'express'
import type { Mail, Mailer } from '../identity/ports.ts'
import type { Clock } from '../kit/clock.ts'
import { assertLocal } from './echo.ts'
import { escapeHtml, sendCards, type MessageStore } from './page.ts'

/**
 * The sandbox without a mail server. The links open accounts, so they go to the terminal and to the inbox page, which
 * only this machine can read, and not through the log, which may be collected elsewhere and has its tokens cut out.
 */
export function inboxMailer(deps: InboxDeps): Mailer {
  const { store, clock, log, inbox, terminal } = deps
  return {
    async send({ to, subject, text }: Mail) {
      await store.add('mail', { to, subject, text }, clock.now())
      log.info({ to, subject }, 'SMTP_URL is not set; the mail is in the inbox of this sandbox.')
      terminal(toTerminal({ to, subject, text }, inbox))
    },
  }
}

interface InboxDeps {
  store: MessageStore
  clock: Clock
  log: { info(fields: object, message: string): void }
  /** The page's address. */
  inbox: string
  /** Writes to the terminal of the person who started the sandbox. */
  terminal: (text: string) => void
}

export function inboxPage(store: MessageStore): RequestHandler {
  return async (request, response) => {
    assertLocal(request)
    const mails = await store.newest<Omit<Mail, 'id'>>('mail')
    sendCards(response, {
      title: 'Inbox',
      empty: 'Mails of this sandbox appear here. Sign up in the dashboard to get the first one.',
      cards: mails.map(({ content: { to, subject, text }, createdAt }) => ({
        title: subject,
        note: `To ${to}`,
        at: createdAt,
        body: `<pre>${linked(text)}</pre>`,
      })),
    })
  }
}

function toTerminal({ to, subject, text }: Omit<Mail, 'id'>, inbox: string): string {
  const links = text.match(LINK) ?? []
  // A terminal would obey what a subject or an address may hold besides letters.
  const line = (words: string): string => words.replace(/[^\P{C}]/gu, ' ')
  const lines = [
    `Mail to ${line(to)}: ${line(subject)}`,
    ...links.map((link) => `  ${line(link)}`),
    `  All mails: ${inbox}`,
  ]
  return `\n${lines.map((each) => `  ${each}`).join('\n')}\n\n`
}

function linked(text: string): string {
  let markup = ''
  let from = 0
  for (const match of text.matchAll(LINK)) {
    const link = escapeHtml(match[0])
    markup += `${escapeHtml(text.slice(from, match.index))}<a href="${link}" rel="noreferrer">${link}</a>`
    from = match.index + match[0].length
  }
  return markup + escapeHtml(text.slice(from))
}

const LINK = /https?:\/\/[^\s<>"']+/g
