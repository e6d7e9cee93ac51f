import { createTransport } from 'nodemailer'
import type { Mail, Mailer } from '../identity/ports.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'

/** Mail by SMTP. A failed one throws, and the queue tries it again. */
export function smtpMailer({ url, from }: { url: string; from: string }): Mailer & { close(): void } {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  })
  // The id's right side: a mailbox that gets both of two attempts can tell that they are one mail.
  const host = /@([\w.-]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    async send({ id, to, subject, text }: Mail) {
      try {
        await transport.sendMail({ from, to, subject, text, messageId: `<coinslot-${id}@${host}>` })
      } catch (error) {
        throw new DomainError('upstream', 'mail_not_sent', 'The mail server did not accept the mail.', {}, error)
      }
    },
    close: () => {
      transport.close()
    },
  }
}

/** The sandbox without a mail server: whoever runs it finds the mail in the log. */
export function logMailer(log: Log): Mailer {
  return {
    async send({ to, subject, text }: Mail) {
      log.info({ to, subject, text }, 'SMTP_URL is not set; the mail is only logged.')
    },
  }
}
