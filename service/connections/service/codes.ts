import { DomainError } from '../../kit/errors.ts'
import { GrantOver } from '../errors.ts'
import type { Connection } from '../model.ts'
import { EXCHANGE_MS, LEASE_MS, nextPoll } from '../rules.ts'
import { storeIssued } from './authorize.ts'
import { openPoll, takeBack, type ConnectionsDeps } from './deps.ts'

/**
 * Connections whose person enters a code at the provider (RFC 8628): asks for their tokens at the provider's own interval,
 * until the code is over. The time of the next question is moved ahead before it is asked, so that one process asks; when
 * that dies, another asks once a minute is over.
 */
export function createCodes(deps: ConnectionsDeps) {
  const { store, providers, servers, clock, log, failpoints } = deps

  async function poll(connection: Connection): Promise<void> {
    const { owner, providerOwnerId, provider: slug, requestExpiresAt, pollIntervalSeconds } = connection
    if (connection.request === null || requestExpiresAt === null || requestExpiresAt <= clock.now()) {
      await store.endPoll(connection, LATE)
      return
    }
    const provider = await providers.of(owner.environment, providerOwnerId, slug)
    const { deviceCode, server, clientId, scopes } = openPoll(deps, connection)
    const client = provider?.client ?? null
    if (provider === null || client?.clientId !== clientId) {
      await store.endPoll(connection, 'The OAuth client of the provider was changed meanwhile. Connect again.')
      return
    }
    const grant = { name: provider.name, server, client, secret: provider.clientSecret }
    await failpoints.reach('connection polling')
    const answer = await servers.poll(grant, deviceCode).catch((error: unknown) => {
      if (error instanceof GrantOver) return error
      const code = error instanceof DomainError ? error.code : 'internal'
      log.warn(
        { connectionId: connection.id, provider: slug, code },
        'a provider did not say whether a code was entered',
      )
      return 'silent' as const
    })
    if (answer instanceof GrantOver) {
      await store.endPoll(connection, REFUSALS.get(answer.code) ?? 'Its server refused the code. Connect again.')
      return
    }
    if (typeof answer === 'string') {
      await store.pollAgain(connection, nextPoll(clock.now(), pollIntervalSeconds, answer))
      return
    }
    await failpoints.reach('connection polled')
    const keptUntil = new Date(clock.now().getTime() + EXCHANGE_MS)
    if (await store.takePoll(connection, keptUntil)) {
      await storeIssued(deps, { connection, provider, grant, scopes }, answer)
    } else {
      // Removed, or begun anew, while the provider answered.
      await takeBack(deps, grant, answer)
    }
  }

  return {
    async sweepCodes(now: Date, signal: AbortSignal): Promise<void> {
      const due = await store.claimPolls({ now, until: new Date(now.getTime() + LEASE_MS) }, POLLS)
      if (signal.aborted) return
      // One that fails does not end the others' turn.
      for (const ended of await Promise.allSettled(due.map(poll))) {
        if (ended.status === 'rejected') log.error({ err: ended.reason as unknown }, 'a code could not be asked about')
      }
    },
  }
}

const LATE = 'The code was not entered in time. Connect again.'
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'The access was not allowed there. Connect again.'],
  ['expired_token', LATE],
])
/** In one sweep: a server that is slow on purpose holds up few others, and none for longer than the lease. */
const POLLS = { all: 20, perAccount: 2 }
