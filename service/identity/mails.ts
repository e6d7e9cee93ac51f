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

export function resetMail(wanted: { email: string; link: string }): Omit<Mail, 'id'> {
  return {
    to: wanted.email,
    subject: 'Choose a new password for Coinslot',
    text: `Somebody, hopefully you, asked for a new password for the Coinslot account of this address, or tried to sign up with it
anew. Choose a new password here, or sign in with the one you have:

${wanted.link}

The link works once, for an hour, and signs you out everywhere else. If it was not you, do nothing: your password stays
as it is.
`,
  }
}
