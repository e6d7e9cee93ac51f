import type { z } from 'zod'
import type { emailOut } from '../../../../identity/http/sign-in.ts'
import { useAccount } from '../../api/session.ts'

/** The account's e-mail address, and what else signs in to it. */
export const useEmail = () => useAccount<EmailNow>('/auth/email')

type EmailNow = z.input<typeof emailOut>
