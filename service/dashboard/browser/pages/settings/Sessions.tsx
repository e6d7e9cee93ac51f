import { useMutation } from '@tanstack/react-query'
import type { z } from 'zod'
import type { session } from '../../../../identity/http/sign-in.ts'
import { toFault, type Fault } from '../../api/fault.ts'
import { useAccount, call } from '../../api/session.ts'
import { Button } from '../../parts/Button.tsx'
import { When } from '../../parts/values.tsx'
import { Card } from '../../parts/layout.tsx'
import { Loaded, Skeleton } from '../../parts/states.tsx'
import { toast } from '../../shell/toast.ts'

type SignedInAt = Pick<z.input<typeof session>, 'createdAt'> & { id: string; userAgent?: string | null }

/** Where this account is signed in. */
export function Sessions() {
  const sessions = useAccount<SignedInAt[]>('/auth/list-sessions')
  const end = useMutation<unknown, Fault>({
    mutationFn: () => call('POST', '/auth/revoke-other-sessions', {}),
    onSuccess: () => toast({ tone: 'good', text: 'Other sessions signed out.' }),
    onError: (error) => toast({ tone: 'bad', text: toFault(error).message }),
    onSettled: () => sessions.refetch(),
  })
  const { data } = sessions
  return (
    <Card
      title="Sessions"
      actions={
        data !== undefined && data.length > 1 ? (
          <Button small busy={end.isPending} onClick={() => end.mutate()}>
            Sign out other sessions
          </Button>
        ) : undefined
      }
    >
      <Loaded of={sessions} waiting={<Skeleton className="h-12 w-full" />}>
        {(list) => (
          <ul className="divide-y divide-line">
            {list.map(({ id, createdAt, userAgent }) => (
              <li key={id} className="flex flex-wrap justify-between gap-x-4 py-2 first:pt-0 last:pb-0">
                <span className="min-w-0 truncate">{nameOf(userAgent ?? '')}</span>
                <span className="text-quiet">
                  since <When at={createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

function nameOf(agent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(agent)?.[1]
  const system = /(Windows|Macintosh|Android|iPhone|iPad|Linux)/.exec(agent)?.[1]
  if (browser === undefined) return 'Unknown client'
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }
  return `${names[browser] ?? browser}${system === undefined ? '' : ` on ${names[system] ?? system}`}`
}
