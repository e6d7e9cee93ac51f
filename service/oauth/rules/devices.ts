import { GrantRefused } from '../errors.ts'
import type { Device, DevicePoll } from '../model.ts'

/** RFC 8628, section 3.5. Only one that waits is told to slow down: who was approved has nothing left to wait for. */
export function pollOf(device: Device | null, now: Date): DevicePoll {
  const refuse = (...[code, sentence]: ConstructorParameters<typeof GrantRefused>): DevicePoll => ({
    outcome: 'refuse',
    refusal: new GrantRefused(code, sentence),
  })
  if (device === null) return refuse('invalid_grant', 'This device code is unknown. Start again.')
  if (device.redeemedAt !== null) return refuse('invalid_grant', 'This device code was used before. Start again.')
  if (device.expiresAt <= now) return refuse('expired_token', 'The code has expired. Start again.')
  if (device.decision === 'refused') return refuse('access_denied', 'The request was refused on the page.')
  if (device.decision === 'approved') return { outcome: 'redeem' }
  const { intervalSeconds, polledAt } = device
  const isEarly = polledAt !== null && now.getTime() - polledAt.getTime() < intervalSeconds * 1_000
  if (!isEarly) {
    const refusal = new GrantRefused('authorization_pending', 'The code was not entered yet. Ask again.')
    return { outcome: 'wait', refusal, intervalSeconds }
  }
  const slower = Math.min(INTERVAL_SECONDS_MAX, intervalSeconds + SLOWER_SECONDS)
  const refusal = new GrantRefused('slow_down', `Wait ${String(slower)} seconds between two questions.`)
  return { outcome: 'wait', refusal, intervalSeconds: slower }
}

/** As it is stored: people type it in any case, with or without its hyphen. Null for what is no code. */
export function userCodeOf(text: string): string | null {
  const letters = text.toUpperCase().replaceAll(/[\s-]/g, '')
  return new RegExp(`^[${USER_CODE_LETTERS}]{8}$`).test(letters) ? letters : null
}

export function shownUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Consonants without those that are mistaken for digits: no words, and 34 bits against guesses. */
export const USER_CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
export const DEVICE_MS = 10 * 60_000
export const INTERVAL_SECONDS = 5
const SLOWER_SECONDS = 5
const INTERVAL_SECONDS_MAX = 60
/** The only program that gets a whole account's key so. Others ask on the page where the owner sets a limit. */
export const COMMAND_LINE = 'coinslot-cli'
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
