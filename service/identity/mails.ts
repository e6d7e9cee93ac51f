import type { EmailChange, Notice } from './model.ts'
import type { Mail } from './ports.ts'

/** Plain text: a mail holds one link, and every mail program shows it. */
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

export function emailChangeMail(wanted: EmailChange & { link: string }): Omit<Mail, 'id'> {
  return {
    to: wanted.to,
    subject: 'Confirm your new e-mail address for Coinslot',
    text: `Somebody, hopefully you, wants to use this address for their Coinslot account. Confirm it here, signed in to that account:

${wanted.link}

The link works for a day. If it was not you, do nothing: it opens nothing without the account.
`,
  }
}

export function noticeMail(notice: Notice, at: Date, dashboard: string): Pick<Mail, 'subject' | 'text'> {
  const { subject, what } = toWords(notice)
  return {
    subject,
    text: `${what}

It happened on ${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC. If it was you, there is nothing to do.

If it was not you, somebody else is in your account. ${notice.kind === 'email-changed' ? WITHOUT_ADDRESS : remedy(dashboard.replace(/\/$/, ''))}
`,
  }
}

const WITHOUT_ADDRESS = `Write to whoever runs this server at once: this address no longer
opens the account.`

function remedy(origin: string): string {
  return `Choose a new password, which signs everybody out:

${origin}/reset-password

Then look at your wallets, your payout address and your API keys:

${origin}/settings
${origin}/keys`
}

function toWords(notice: Notice): { subject: string; what: string } {
  switch (notice.kind) {
    case 'wallet-connected':
      return {
        subject: 'A wallet was connected to your Coinslot account',
        what: `The wallet ${notice.address} was connected to your account and can sign in to it.`,
      }
    case 'wallet-removed':
      return {
        subject: 'A wallet was removed from your Coinslot account',
        what: `The wallet ${notice.address} no longer signs in to your account.`,
      }
    case 'password-changed':
      return { subject: 'Your Coinslot password was changed', what: 'The password of your account was changed.' }
    case 'email-changed':
      return {
        subject: 'Your Coinslot account has another e-mail address',
        what: `Your account uses the address ${notice.email} from now on, and no longer this one.`,
      }
    case 'payout-address':
      return {
        subject: `Your Coinslot payout address was ${notice.address === null ? 'removed' : 'changed'}`,
        what:
          notice.address === null
            ? `Your ${notice.environment} account no longer has a payout address: each withdrawal asks for one.`
            : `Withdrawals of your ${notice.environment} account begin with the address ${notice.address} from now on.`,
      }
  }
}
