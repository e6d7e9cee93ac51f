import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useSearchParams } from 'wouter'
import { toFault, type Fault } from '../api/fault.ts'
import { call, loadSession } from '../api/session.ts'
import { LinkButton } from '../parts/Button.tsx'
import { Page } from '../parts/layout.tsx'
import { Failure, Notice, Skeleton } from '../parts/states.tsx'

/** The page behind the link in the e-mail to a new address: it confirms the address for the signed-in account. */
export default function EmailChange() {
  const [params] = useSearchParams()
  const token = params.get('token') ?? ''
  const queries = useQueryClient()
  const { mutate, data, error } = useMutation<{ email: string }, Fault, string>({
    mutationFn: async (mailed) => (await call('POST', '/auth/email/confirm', { token: mailed })) as { email: string },
    onSuccess: async () => {
      await Promise.all([loadSession(), queries.invalidateQueries({ queryKey: ['/auth/email'] })])
    },
  })
  useEffect(() => {
    // A second request changes nothing: the address is already theirs.
    mutate(token)
  }, [mutate, token])
  const refused = error !== null && REFUSED.has(error.status ?? 0) ? error.message : null
  return (
    <Page narrow title="New e-mail address" back={{ to: '/settings', name: 'Settings' }}>
      {data !== undefined || refused !== null ? (
        <div className="space-y-4">
          {refused !== null && <Notice tone="bad">{refused}</Notice>}
          {data !== undefined && (
            <Notice tone="good">Your e-mail address is now {data.email}. Sign in with it from now on.</Notice>
          )}
          <LinkButton to="/settings">Go to settings</LinkButton>
        </div>
      ) : error !== null ? (
        <Failure fault={toFault(error)} again={() => mutate(token)} />
      ) : (
        <Skeleton className="h-12 w-full" />
      )}
    </Page>
  )
}

/** With these statuses, another attempt with the same link would also fail. */
const REFUSED: ReadonlySet<number> = new Set([400, 403, 409])
