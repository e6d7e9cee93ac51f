import { createTransport } from 'nodemailer'
import type { Mail, Mailer } from '../identity/ports.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'
import { assertNoTransaction } from '../kit/transaction.ts'

/** Sends mail by SMTP. A failure throws, and the queue retries it. */
export function smtpMailer({ url, from, mostMs = MOST_MS }: SmtpSettings): Mailer & { close(): void } {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  })
  // Completes the mail's id. A mailbox that gets two attempts of one mail can tell by the id that they are the same.
  const host = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text, files = [] }: Mail) {
      assertNoTransaction('a mail server')
      try {
        const attachments = files.map(({ name, type, bytes }) => ({
          filename: name,
          contentType: type,
          content: bytes,
        }))
        // As an object the address is not read as a list: one mail goes to one mailbox.
        const mail = { from, to: { name: '', address: to }, subject, text, attachments }
        await within(mostMs, transport.sendMail({ ...mail, messageId: `<coinslot-${id}@${host}>` }))
      } catch (error) {
        throw new DomainError('upstream', 'mail_not_sent', 'The mail server did not accept the mail.').causedBy(error)
      }
    },
    close: () => {
      transport.close()
    },
  }
}

interface SmtpSettings {
  url: string
  from: string
  /** How long one mail may take, with its wait for a connection. */
  mostMs?: number
}

/** Less than the queue gives a mail, so that the failure says what took so long. */
const MOST_MS = 25_000

/** A server that answers a little at a time is silent for none of the transport's own limits. */
async function within(ms: number, sending: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`the mail took longer than ${String(ms)} ms`))
    }, ms)
  })
  try {
    await Promise.race([sending, late])
  } finally {
    clearTimeout(timer)
    sending.catch(() => undefined)
  }
}

/** Connects and signs in as for a mail, and sends none. Throws what the server said. */
export async function verifySmtp(url: string, timeoutMs: number): Promise<void> {
  const transport = createTransport({
    url,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

/** For a sandbox without a mail server: the mail is written to the log, where the operator can read it. */
export function logMailer(log: Log): Mailer {
  return {
    async send({ to, subject, text }: Mail) {
      assertNoTransaction('a mail server')
      log.info({ to, subject, text }, 'SMTP_URL is not set; the mail is only logged.')
    },
  }
}
