import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Database } from '../database/client.ts'
import { DomainError } from '../kit/errors.ts'
import type { Log } from '../kit/log.ts'
import { createLease } from '../queue/sweepers.ts'
import { loadOrMakeKey } from '../vault/keyring.ts'
import { authSecretOf, sandboxAccount } from './keys.ts'

/**
 * All processes on one database must have the same secrets; otherwise one process cannot verify or decrypt what another
 * signed or encrypted. This happens when each process creates its own secrets on its own machine. So each process
 * publishes hashes of its secrets at its start and as long as it runs, and a process with different secrets does not
 * start. To change the secrets, stop all processes first.
 */
export async function agreeOnSecrets(
  config: Config,
  database: Pick<Database, 'statements'>,
  log: Log,
  /** How long a process that no longer reports is remembered. */
  lastsMs = 10_000,
): Promise<{ end(): void }> {
  const leases = (await secretsOf(config)).map(([name, secret]) => {
    const hash = createHash('sha256').update(`coinslot agreement ${name} ${secret}`).digest('base64url').slice(0, 22)
    return { name, lease: createLease(database.statements, `secret ${name}`, hash) }
  })
  const take = async ({ name, lease }: (typeof leases)[number]): Promise<string | null> => {
    const now = new Date()
    return (await lease.take(now, new Date(now.getTime() + lastsMs))) ? null : name
  }
  const giveUpAt = Date.now() + lastsMs + 1_000
  for (const each of leases) {
    // Processes that have just stopped are remembered for a while.
    while ((await take(each)) !== null) {
      if (Date.now() > giveUpAt) throw disagreement(each.name)
      await wait(lastsMs / 20)
    }
  }
  const timer = setInterval(() => {
    Promise.all(leases.map(take)).then(
      (others) => {
        for (const name of others) if (name !== null) log.error({ name }, disagreement(name).message)
      },
      () => undefined,
    )
  }, lastsMs / 4)
  timer.unref()
  return {
    end() {
      clearInterval(timer)
    },
  }
}

async function secretsOf(config: Config): Promise<[name: string, secret: string][]> {
  return [
    ['AUTH_SECRET', await authSecretOf(config)],
    // The check is skipped while keys are rotated: then the processes get the new key beside the old one, one after the
    // other.
    ...(config.VAULT_OLD_KEYS === undefined
      ? [['VAULT_KEY', config.VAULT_KEY ?? (await loadOrMakeKey(config.DATA_DIR))] as [string, string]]
      : []),
    ...(await walletOf(config)),
  ]
}

/** Every process creates deposit addresses, and the worker sweeps them. A live server without the key creates none. */
async function walletOf(config: Config): Promise<[name: string, key: string][]> {
  if (config.WALLET_XPUB !== undefined) return [['WALLET_XPUB', config.WALLET_XPUB]]
  if (config.LIVE || config.WALLET_XPRV !== undefined) return []
  return [['WALLET_XPUB', await sandboxAccount(config.DATA_DIR)]]
}

function disagreement(name: string): DomainError {
  return new DomainError(
    'conflict',
    'secrets_differ',
    `Another process on this database has a different ${name}: set ${name} to the same value for all processes (to change it, stop all of them first), or let the processes of one machine share a DATA_DIR.`,
  )
}
