import { useMutation, useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import type { session } from '../../../../identity/http/sign-in.ts'
import { toFault, type Fault } from '../../api/fault.ts'
import { call } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { When } from '../../parts/figures.tsx'
import { Card } from '../../parts/layout.tsx'
import { Awaited, Skeleton } from '../../parts/states.tsx'
import { say } from '../../shell/toasts.ts'

type SignedInAt = Pick<z.input<typeof session>, 'createdAt'> & { id: string; userAgent?: string | null }

/** Where else somebody is signed in with this account. */
export function Sessions() {
  const sessions = useQuery<SignedInAt[], Fault>({
    queryKey: ['sessions'],
    queryFn: async () => (await call('GET', '/auth/list-sessions')) as SignedInAt[],
  })
  const end = useMutation<unknown, Fault>({
    mutationFn: () => call('POST', '/auth/revoke-other-sessions', {}),
    onSuccess: () => say({ tone: 'good', text: 'You are signed in here only.' }),
    onError: (error) => say({ tone: 'bad', text: toFault(error).message }),
    onSettled: () => sessions.refetch(),
  })
  const { data } = sessions
  return (
    <Card
      title="Sessions"
      actions={
        data !== undefined && data.length > 1 ? (
          <Button small busy={end.isPending} onClick={() => end.mutate()}>
            Sign out everywhere else
          </Button>
        ) : undefined
      }
    >
      {data === undefined ? (
        <Awaited of={sessions}>
          <Skeleton className="h-12 w-full" />
        </Awaited>
      ) : (
        <ul className="divide-y divide-line">
          {data.map(({ id, createdAt, userAgent }) => (
            <li key={id} className="flex flex-wrap justify-between gap-x-4 py-2 first:pt-0 last:pb-0">
              <span className="min-w-0 truncate">{nameOf(userAgent ?? '')}</span>
              <span className="text-quiet">
                since <When at={createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function nameOf(agent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent)?.[1]
  const system = /(Windows|Macintosh|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  if (browser === undefined) return 'A program'
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }
  return `${names[browser] ?? browser}${system === undefined ? '' : ` on ${names[system] ?? system}`}`
}
