import { useQuery } from '@tanstack/react-query'
import { ask, useAsk, type Output } from '../../api/ask.ts'
import { useEnvironment } from '../../api/environment.ts'
import type { Fault } from '../../api/fault.ts'

interface Progress {
  /** Of each of the five whether it is done; empty while that is not known. */
  steps: readonly boolean[]
  fault: Fault | null
  again: () => void
  /** The one that the guide goes on with. */
  checkout: Output<'checkouts.list'>['checkouts'][number] | null
}

/** How far somebody has come on the way to a paid workflow, by what the service has seen of it. */
export function useProgress(): Progress {
  const at = useEnvironment()
  const keys = useAsk('identity.keys.list', { limit: 100, offset: 0 })
  const checkouts = useAsk('checkouts.list', { limit: 100, offset: 0 })
  // One from a workflow first: others were made by a program of theirs.
  const all = checkouts.data?.checkouts ?? []
  const checkout = all.find(({ source }) => source !== null) ?? all[0] ?? null
  const ids = all.slice(0, LOOKED_AT).map(({ id }) => id)
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
  if (keys.data === undefined || checkouts.data === undefined) return { steps: [], fault, again, checkout: null }
  const isSet = checkout !== null
  const isCalled = isSet || keys.data.keys.some(({ lastUsedAt }) => lastUsedAt !== null)
  // The node is installed where it called; nothing else of n8n is seen from here.
  const steps = [keys.data.total > 0 || isCalled, isCalled, isCalled, isSet, paid.data === true]
  return { steps, fault: null, again, checkout }
}

const LOOKED_AT = 10

async function isAnyPaid(ids: readonly string[]): Promise<boolean> {
  const answers = await Promise.all(ids.map((id) => ask('checkouts.payments', { id, limit: 20, offset: 0 })))
  return answers.some(({ payments }) => payments.some(({ status }) => status === 'paid'))
}
