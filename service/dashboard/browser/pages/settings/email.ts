import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { emailOut } from '../../../../identity/http/sign-in.ts'
import type { Fault } from '../../api/fault.ts'
import { call } from '../../api/session.ts'

/** How somebody is reached, and whether they have a password beside it. */
export function useEmail() {
  return useQuery<EmailNow, Fault>({
    queryKey: ['email'],
    queryFn: async () => (await call('GET', '/auth/email')) as EmailNow,
  })
}

type EmailNow = z.input<typeof emailOut>
