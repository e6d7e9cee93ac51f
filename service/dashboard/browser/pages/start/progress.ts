import { useQuery } from '@tanstack/react-query'
import { read, useRead, type Output } from '../../api/procedures.ts'
import { useEnvironment } from '../../settings.ts'
import type { Fault } from '../../api/fault.ts'

interface Progress {
  /** For each of the five steps, whether it is done; empty until that is known. */
  steps: readonly boolean[]
  fault: Fault | null
  again: () => void
  /** The checkout that the guide continues with. */
  checkout: Output<'checkouts.list'>['checkouts'][number] | null
  /** True when checkouts exist, but n8n made none of them. */
  isSellingByApi: boolean
}

/** How far an account has come on the way to a paid workflow, by the data that the service has. */
export function useProgress(): Progress {
  const at = useEnvironment()
  const keys = useRead('identity.keys.list', { limit: 100, offset: 0 })
  const checkouts = useRead('checkouts.list', { limit: 100, offset: 0 })
  // Only the trigger in n8n names the workflow that a checkout stands for; a checkout of another program proves nothing.
  const fromN8n = (checkouts.data?.checkouts ?? []).filter(({ source }) => source !== null)
  const checkout = fromN8n[0] ?? null
  const ids = fromN8n.slice(0, LOOKED_AT).map(({ id }) => id)
  const paid = useQuery({
    queryKey: [at, 'checkouts.payments', 'any', ids],
    queryFn: () => isAnyPaid(ids),
    enabled: ids.length > 0,
  })
  const fault = keys.error ?? checkouts.error ?? null
  const again = (): void => {
    void keys.refetch()
    void checkouts.refetch()
  }
  if (keys.data === undefined || checkouts.data === undefined)
    return { steps: [], fault, again, checkout: null, isSellingByApi: false }
  const isSet = checkout !== null
  const steps = [keys.data.total > 0 || isSet, isSet, isSet, isSet, paid.data === true]
  const isSellingByApi = !isSet && checkouts.data.total > 0
  return { steps, fault: null, again, checkout, isSellingByApi }
}

const LOOKED_AT = 10

async function isAnyPaid(ids: readonly string[]): Promise<boolean> {
  const answers = await Promise.all(ids.map((id) => read('checkouts.payments', { id, limit: 20, offset: 0 })))
  return answers.some(({ payments }) => payments.some(({ status }) => status === 'paid'))
}
