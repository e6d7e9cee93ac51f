import { withoutLinks } from '../kit/text.ts'
import type { EmailChange, Notice } from './model.ts'
import type { Mail } from './ports.ts'

/** Plain text: a mail holds one link, and every mail program shows it. */
export function confirmationMail(wanted: { email: string; link: string }): Omit<Mail, 'id'> {
  return {
    to: wanted.email,
    subject: 'Confirm your e-mail address for Coinslot',
    text: `This address was used to sign up for Coinslot. Confirm it here:

${wanted.link}

The link opens a page with a button, and is valid for 24 hours. If it was not you, do nothing: the address stays
unconfirmed.
`,
  }
}

export function resetMail(wanted: { email: string; isConfirmed: boolean; link: string }): Omit<Mail, 'id'> {
  const [choice, otherwise] = wanted.isConfirmed
    ? ['Choose a new password here, or sign in with the one you have', 'your password does not change']
    : ['Choose the password here, which also confirms the address', 'the address stays unconfirmed']
  return {
    to: wanted.email,
    subject: 'Choose a new password for Coinslot',
    text: `A new password was requested for the Coinslot account of this address, or the address was used to sign up again.
${choice}:

${wanted.link}

The link works once, within an hour, and signs you out everywhere else. If it was not you, do nothing:
${otherwise}.
`,
  }
}

export function emailChangeMail(wanted: EmailChange & { link: string }): Omit<Mail, 'id'> {
  return {
    to: wanted.to,
    subject: 'Confirm your new e-mail address for Coinslot',
    text: `A Coinslot account wants to use this address. Sign in to that account and confirm the address here:

${wanted.link}

The link is valid for 24 hours. If it was not you, do nothing: the link has no effect without the account.
`,
  }
}

export function noticeMail(notice: Notice, at: Date, dashboard: string): Pick<Mail, 'subject' | 'text'> {
  const { subject, what } = toWords(notice)
  return {
    subject,
    text: `${what}

It happened on ${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC. If it was you, there is nothing to do.

If it was not you, someone else has access to your account. ${notice.kind === 'email-changed' ? WITHOUT_ADDRESS : remedy(dashboard.replace(/\/$/, ''))}
`,
  }
}

const WITHOUT_ADDRESS = `Contact the operator of this server at once: this address no longer
signs in to the account.`

function remedy(origin: string): string {
  return `Choose a new password. This ends all sessions:

${origin}/reset-password

Then check your wallets, your payout address and your API keys:

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
        subject: 'The e-mail address of your Coinslot account was changed',
        what: `Your account now uses the address ${notice.email} instead of this one.`,
      }
    case 'key-created':
      return {
        subject: 'An API key was created in your Coinslot account',
        what: `The key "${withoutLinks(notice.name)}", which ends in ${notice.lastFour}, was created in your ${notice.environment} account and can call the API for it.`,
      }
    case 'payout-address':
      return {
        subject: `Your Coinslot payout address was ${notice.address === null ? 'removed' : 'changed'}`,
        what:
          notice.address === null
            ? `Your ${notice.environment} account no longer has a payout address: enter one for each withdrawal.`
            : `Withdrawals of your ${notice.environment} account now go to ${notice.address} unless you enter another address.`,
      }
  }
}
