import { useAsk, type Output } from '../../api/ask.ts'
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
  const often = { refetchInterval: 3_000 }
  const keys = useAsk('identity.keys.list', { limit: 100, offset: 0 }, often)
  const checkouts = useAsk('checkouts.list', { limit: 100, offset: 0 }, often)
  // One from a workflow first: others were made by a program of theirs.
  const all = checkouts.data?.checkouts ?? []
  const checkout = all.find(({ source }) => source !== null) ?? all[0] ?? null
  const payments = useAsk(
    'checkouts.payments',
    { id: checkout?.id ?? '', limit: 1, offset: 0 },
    { ...often, enabled: checkout !== null },
  )
  const fault = keys.error ?? checkouts.error ?? null
  const again = (): void => {
    void keys.refetch()
    void checkouts.refetch()
  }
  if (keys.data === undefined || checkouts.data === undefined) return { steps: [], fault, again, checkout: null }
  const isSet = checkout !== null
  const isCalled = isSet || keys.data.keys.some(({ lastUsedAt }) => lastUsedAt !== null)
  const isPaid = payments.data?.payments.some(({ status }) => status === 'paid') ?? false
  // The node is installed where it called; nothing else of n8n is seen from here.
  const steps = [keys.data.total > 0 || isCalled, isCalled, isCalled, isSet, isPaid]
  return { steps, fault: null, again, checkout }
}
