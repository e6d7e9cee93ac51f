import { randomInt, createHash } from 'node:crypto'
import type { Statements } from '../../kit/transaction.ts'
import { walletMissing } from '../errors.ts'
import type { PlatformAccount, Recipient } from '../model.ts'
import type { Environment, Owner } from '../../kit/owner.ts'

/**
 * Account numbers by owner. They never change once made, so each is asked for once; and this process posts
 * to one stripe of the platform's accounts, so that processes do not queue behind each other's rows.
 */
export class Accounts {
  private readonly known = new Map<string, PersonalAccounts>()
  private platform: Map<string, bigint> | null = null
  private readonly statements: Statements
  private readonly stripe = randomInt(STRIPES)

  constructor(statements: Statements) {
    this.statements = statements
  }

  async of(owner: Owner, inside: Statements = this.statements): Promise<PersonalAccounts> {
    const found = await this.find(owner, inside)
    if (found === null) throw walletMissing()
    return found
  }

  async find(owner: Owner, inside: Statements = this.statements): Promise<PersonalAccounts | null> {
    const key = `${owner.environment}:${owner.userId}`
    const known = this.known.get(key)
    if (known !== undefined) return known
    const rows = await inside.run<{ id: bigint; kind: string }>(
      `SELECT id, kind FROM ledger_account
       WHERE owner = $1 AND environment = $2::environment AND kind IN ('wallet', 'credits') AND stripe = 0`,
      [owner.userId, owner.environment],
    )
    const wallet = rows.find((row) => row.kind === 'wallet')?.id
    const credits = rows.find((row) => row.kind === 'credits')?.id
    if (wallet === undefined || credits === undefined) return null
    const accounts = { wallet, credits }
    // Not remembered from inside a transaction: it may yet be undone.
    if (inside === this.statements) this.remember(key, accounts)
    return accounts
  }

  async recipient(to: Recipient, environment: Environment, inside?: Statements): Promise<bigint> {
    if ('platform' in to) return await this.ofPlatform(environment, to.platform, inside)
    return (await this.of({ userId: to.userId, environment }, inside)).wallet
  }

  async ofPlatform(
    environment: Environment,
    kind: PlatformAccount,
    inside: Statements = this.statements,
  ): Promise<bigint> {
    this.platform ??= await this.loadPlatform(inside)
    const id = this.platform.get(`${environment}:${kind}`)
    if (id === undefined) throw new Error(`the platform has no ${kind} account in ${environment}`)
    return id
  }

  /** On the caller's own connection: who holds one must never wait for a second, or a full pool stands still. */
  private async loadPlatform(inside: Statements): Promise<Map<string, bigint>> {
    const rows = await inside.run<{ id: bigint; kind: string; environment: string }>(
      `SELECT id, kind, environment FROM ledger_account WHERE owner = 'platform' AND stripe = $1`,
      [this.stripe],
    )
    return new Map(rows.map((row) => [`${row.environment}:${row.kind}`, row.id]))
  }

  private remember(key: string, accounts: PersonalAccounts): void {
    if (this.known.size >= REMEMBERED_MAX) this.known.clear()
    this.known.set(key, accounts)
  }
}

export interface PersonalAccounts {
  wallet: bigint
  credits: bigint
}

const STRIPES = 16
const REMEMBERED_MAX = 200_000

/** What a command says, in 32 bytes: the same id with another fingerprint is another command. */
export function fingerprint(...parts: readonly (string | bigint | boolean | null)[]): Buffer {
  const text = JSON.stringify(parts, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  return createHash('sha256').update(text).digest()
}
