import type { Announcement } from '../../queue/model.ts'
import type { Live } from '../ports.ts'
import { WAIT_MS } from '../rules/answer.ts'

export const ATTEMPT = 'deliveries.attempt'
/** Attempts that may take minutes stand in nobody's way. */
export const LONG_ATTEMPT = 'deliveries.long-attempt'
export const NOTICE = 'deliveries.notice'

export function toAnnouncement({ id, turn, waitMs, dueAt }: Live): Announcement {
  return { topic: waitMs > WAIT_MS ? LONG_ATTEMPT : ATTEMPT, payload: { id, turn }, dueAt }
}
