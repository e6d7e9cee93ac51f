import type { Mail } from './ports.ts'

/** In plain text: there is one link, and every program shows it. */
export function confirmationMail(wanted: { email: string; link: string }): Omit<Mail, 'id'> {
  return {
    to: wanted.email,
    subject: 'Confirm your e-mail address for Coinslot',
    text: `Somebody, hopefully you, signed up for Coinslot with this address. Confirm it here:

${wanted.link}

The link works for a day. If it was not you, do nothing: the address stays unconfirmed.
`,
  }
}
