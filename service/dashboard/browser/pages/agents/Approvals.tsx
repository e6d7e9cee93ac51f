import { foreseen, useAction, useRead } from '../../api/procedures.ts'
import { Button } from '../../parts/Button.tsx'
import { Money, When } from '../../parts/values.tsx'
import { Card } from '../../parts/layout.tsx'
import { toast } from '../../shell/toast.ts'

/** Calls that wait for a person's approval. */
export function Approvals() {
  const { data } = useRead('spending.approvals', { status: 'pending', limit: 20, offset: 0 })
  const decide = useAction('spending.decide', {
    changes: ['spending.'],
    foresees: ({ id }) => [
      foreseen('spending.approvals', ({ approvals, total }) => ({
        approvals: approvals.filter((approval) => approval.id !== id),
        total: total - 1,
      })),
    ],
    done: (_approval, { state }) =>
      toast({ tone: 'good', text: state === 'approved' ? 'Approved for one call.' : 'Call refused.' }),
  })
  if (data === undefined || data.approvals.length === 0) return null
  return (
    <Card title="Approvals">
      <ul className="divide-y divide-line">
        {data.approvals.map((approval) => (
          <li key={approval.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2.5 first:pt-0 last:pb-0">
            <div className="min-w-0 flex-1">
              <p className="break-words">
                <span className="font-medium">{approval.agentName}</span> wants to spend{' '}
                <strong className="font-semibold">
                  <Money amount={approval.amount} />
                </strong>{' '}
                on <code className="font-mono text-[0.8125rem]">{approval.target}</code>
              </p>
              <p className="text-[0.8125rem] text-quiet">
                Expires <When at={approval.expiresAt} />
              </p>
            </div>
            <div className="flex gap-2">
              <Button small onClick={() => decide.mutate({ id: approval.id, state: 'refused' })}>
                Refuse
              </Button>
              <Button small variant="main" onClick={() => decide.mutate({ id: approval.id, state: 'approved' })}>
                Approve
              </Button>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}
