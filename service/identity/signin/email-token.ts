import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { EmailChange } from '../model.ts'

/**
 * What the mail to a new address carries: whose it becomes, and instead of which one. Nothing is kept of it: once the
 * address is changed, the old one is no longer theirs and it opens nothing.
 */
export function toEmailToken({ subject, from, to }: EmailChange, until: Date, secret: string): string {
  const text = Buffer.from(JSON.stringify([subject, from, to, until.getTime()])).toString('base64url')
  return `${text}.${signed(text, secret).toString('base64url')}`
}

/** Null when it is not ours, or its time is over. */
export function readEmailToken(token: string, now: Date, secret: string): EmailChange | null {
  const [text = '', signature = ''] = token.split('.')
  const [given, expected] = [Buffer.from(signature, 'base64url'), signed(text, secret)]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
  const [subject, from, to, until] = said.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  return until > now.getTime() ? { subject, from, to } : null
}

/** The secret signs sessions and other mails' links, too: none of them counts here, nor this there. */
function signed(text: string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`email-change ${text}`).digest()
}

const said = z.tuple([z.string(), z.string(), z.string(), z.number()])
