import { createTRPCUntypedClient, httpBatchLink } from '@trpc/client'
import type {
  AnyMutationProcedure,
  AnyProcedure,
  AnyQueryProcedure,
  inferProcedureInput,
  inferTransformedProcedureOutput,
} from '@trpc/server'
import {
  keepPreviousData,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type QueryKey,
} from '@tanstack/react-query'
import type { AppRouter } from '../../../wiring/compose.ts'
import { toJson } from '../parts/texts.ts'
import { toast } from '../shell/toast.ts'
import { environment, useEnvironment, type Environment } from '../settings.ts'
import { Fault, toFault } from './fault.ts'
import { accountHeaders, sessionEnded } from './session.ts'
import { keyOf } from './unanswered.ts'

/*
 * The service's procedures, each by its path, on TanStack Query: `useRead('wallet.balance')`. The cache key is the
 * environment, the path and the input, so data of one environment never shows in the other.
 */

const client = createTRPCUntypedClient<AppRouter>({
  links: [
    httpBatchLink({
      url: '/trpc',
      maxURLLength: 4_000,
      // The service refuses larger batches.
      maxItems: 30,
      headers: ({ opList }) => ({
        'coinslot-environment': (opList[0].context['environment'] as string | undefined) ?? environment(),
        ...accountHeaders(),
      }),
    }),
  ],
})

/** What was read, for one account: another one, or a visitor, has its own. */
export function openQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        networkMode: 'always',
        // Only lost connections are retried, because they often recover; the service's answer would only be the same
        // again.
        retry: (count, error) => count < 2 && toFault(error).isSilence,
        retryDelay: (count) => 400 * 2 ** count,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })
}

/** A single read outside a component, for example for the export of a list. */
export async function read<P extends QueryPath>(path: P, input: Input<P>, at = environment()): Promise<Output<P>> {
  try {
    return (await client.query(path, input, { context: { environment: at } })) as Output<P>
  } catch (error) {
    throw toSessionFault(error)
  }
}

export function useRead<P extends QueryPath>(path: P, input: Input<P>, options: ReadOptions = {}) {
  const at = useEnvironment()
  return useQuery<Output<P>, Fault>({
    queryKey: [at, path, input ?? null],
    queryFn: () => read(path, input, at),
    // The previous page stays until the next one has loaded, but never one of another environment.
    placeholderData: (before, query) => (query?.queryKey[0] === at ? keepPreviousData(before) : undefined),
    ...options,
  })
}

interface ReadOptions {
  enabled?: boolean
  /** Reads again after so many milliseconds, as long as the page is seen. */
  refetchInterval?: number | false
}

export function useAction<P extends ActionPath>(path: P, options: ActionOptions<P> = {}) {
  const cache = useQueryClient()
  return useMutation<Output<P>, Fault, Input<P>, Undo>({
    mutationFn: async (input) => {
      const once = options.once === true ? await keyOf(path, input) : null
      try {
        const text = toJson(once === null ? input : { ...(input as object), key: once.key })
        const output = await client.mutation(path, text === '' ? undefined : (JSON.parse(text) as unknown))
        once?.settled()
        return output as Output<P>
      } catch (error) {
        const fault = toSessionFault(error)
        if (isRefusal(fault)) once?.settled()
        throw fault.isSilence ? unanswered(options, fault) : fault
      }
    },
    onMutate: async (input) => await foresee(cache, options.foresees?.(input) ?? []),
    onError: (fault, _input, undo) => {
      undo?.()
      // A form shows its fields' errors itself.
      if (options.quiet !== true && !fault.isSessionOver) toast({ tone: 'bad', text: sentenceOf(fault) })
    },
    onSuccess: (output, input) => options.done?.(output, input),
    onSettled: () => refresh(cache, options.changes ?? []),
  })
}

interface ActionOptions<P extends ActionPath> {
  /**
   * Set for actions that move money or create something: after a lost answer the person can press the button again, and
   * it is done once.
   */
  once?: P extends IdempotentPath ? true : never
  /** Set for actions that only read: without an answer nothing was done. */
  looks?: boolean
  /** The queries to refetch afterwards: paths, or the start of paths (`wallet.`). */
  changes?: readonly string[]
  /** The expected changes: shown at once, and undone when the action fails. */
  foresees?: (input: Input<P>) => readonly Foreseen[]
  done?: (output: Output<P>, input: Input<P>) => void
  quiet?: boolean
}

/** Whether the action itself was answered, and not something before it: a proxy, a limit, or a session that is over. */
function isRefusal({ status, code }: Fault): boolean {
  return status !== null && status < 500 && code !== 'unknown' && ![401, 408, 429].includes(status)
}

function unanswered({ once, looks }: { once?: boolean; looks?: boolean }, fault: Fault): Fault {
  if (once === true) return new Fault('No answer came. Try again: it is done only once.', UNANSWERED)
  return looks === true ? new Fault('No answer came. Nothing was changed: try again.', UNANSWERED) : fault
}

/** The code of errors whose message already says whether to try again. */
const UNANSWERED = { code: 'unanswered' }

interface Foreseen {
  path: QueryPath
  change: (before: unknown) => unknown
}

/** The expected change of the cached answer under the path. */
export function foreseen<P extends QueryPath>(path: P, change: (before: Output<P>) => Output<P>): Foreseen {
  return { path, change: (before) => change(before as Output<P>) }
}

/** The expected change of some fields of the record with this id. */
export function foreseenFields<P extends QueryPath>(
  path: P,
  id: string,
  fields: { readonly [Field in keyof Output<P>]?: Output<P>[Field] },
): Foreseen {
  const change = (before: unknown): unknown =>
    (before as { id?: unknown }).id === id ? { ...(before as object), ...fields } : before
  return { path, change }
}

type Undo = () => void

async function foresee(cache: QueryClient, all: readonly Foreseen[]): Promise<Undo> {
  const before: [readonly unknown[], unknown][] = []
  for (const { path, change } of all) {
    const queryKey = [environment(), path]
    // An answer that is still under way would show the old state again.
    await cache.cancelQueries({ queryKey })
    before.push(...cache.getQueriesData({ queryKey }))
    cache.setQueriesData({ queryKey }, (data: unknown) => (data === undefined ? undefined : change(data)))
  }
  return () => {
    for (const [key, data] of before) cache.setQueryData(key, data)
  }
}

export async function refresh(cache: QueryClient, paths: readonly string[]): Promise<void> {
  const at: Environment = environment()
  const isConcerned = ({ queryKey: [of, path] }: { queryKey: QueryKey }): boolean =>
    of === at && paths.some((start) => String(path).startsWith(start))
  // A first load that is still running may return the old state: it is not cancelled, but repeated.
  for (const query of cache.getQueryCache().findAll({ predicate: isConcerned, fetchStatus: 'fetching' })) {
    if (query.state.data === undefined) {
      const again = (): void => void cache.invalidateQueries({ queryKey: query.queryKey, exact: true })
      void query.promise?.then(again, () => undefined)
    }
  }
  await cache.invalidateQueries({ predicate: isConcerned })
}

/** After an action without an answer it is unknown whether it was done: a retry might do it twice. */
export function sentenceOf(fault: Fault): string {
  if (fault.isSilence && fault.code !== UNANSWERED.code)
    return 'No answer came. Check whether it went through before you retry.'
  if (fault.status === null || fault.status < 500 || fault.requestId === null) return fault.message
  return `${fault.message} What you typed is kept. Try again, or send us this request ID: ${fault.requestId}.`
}

function toSessionFault(error: unknown): Fault {
  const fault = toFault(error)
  if (fault.isSessionOver) sessionEnded()
  return fault
}

type Flat<R, Before extends string = ''> = {
  [Name in keyof R & string]: R[Name] extends AnyProcedure
    ? Record<`${Before}${Name}`, R[Name]>
    : Flat<R[Name], `${Before}${Name}.`>
}[keyof R & string]
type Together<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void ? All : never
type Procedures = Together<Flat<AppRouter['_def']['record']>>
type Those<Kind> = {
  [Path in keyof Procedures]: Procedures[Path] extends Kind ? Path : never
}[keyof Procedures]

export type QueryPath = Those<AnyQueryProcedure>
export type ActionPath = Those<AnyMutationProcedure>
/** The actions that accept an idempotency key. */
type IdempotentPath = { [P in ActionPath]: Input<P> extends { key?: string | undefined } ? P : never }[ActionPath]
type Procedure<P extends keyof Procedures> = Procedures[P] extends AnyProcedure ? Procedures[P] : never
export type Input<P extends keyof Procedures> = inferProcedureInput<Procedure<P>>
export type Output<P extends keyof Procedures> = inferTransformedProcedureOutput<AppRouter, Procedure<P>>
