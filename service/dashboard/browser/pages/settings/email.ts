import { useQuery } from '@tanstack/react-query'
import type { Fault } from '../../api/fault.ts'
import { call } from '../../api/session.ts'

/** How somebody is reached, and whether they have a password beside it. */
export function useEmail() {
  return useQuery<EmailNow, Fault>({
    queryKey: ['email'],
    queryFn: async () => (await call('GET', '/auth/email')) as EmailNow,
  })
}

interface EmailNow {
  email: string | null
  confirmed: boolean
  hasPassword: boolean
  /** Not where it is a provider's, nor on a server that cannot send mail. */
  changeable: boolean
}
