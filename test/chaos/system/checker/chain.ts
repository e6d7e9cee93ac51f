import type { Statements } from '../../../../service/kit/transaction.ts'
import { useOf, type Evidence } from '../evidence.ts'

interface Settlement {
  payer: string
  nonce: string
  to: string
  value: string
  state: string
  hash: string | null
  external: boolean
}

/** The facilitator's state of every authorization must match the chain's. */
export async function checkChain(statements: Statements, evidence: Evidence): Promise<string[]> {
  const { used, transfers } = evidence
  const problems: string[] = []
  const settlements = await statements.run<Settlement>(
    `SELECT '0x' || encode(payer, 'hex') AS payer, '0x' || encode(nonce, 'hex') AS nonce,
            '0x' || encode(pay_to, 'hex') AS "to", value::text AS value, state, external,
            '0x' || encode(tx_hash, 'hex') AS hash
     FROM facilitator_settlement WHERE operation IS NULL OR operation = 'authorize'`,
    [],
  )
  const known = new Set<string>()
  for (const { payer, nonce, to, value, state, hash } of settlements) {
    const use = useOf(payer, nonce)
    known.add(use)
    const inTransaction = used.get(use)
    if (state === 'settled' && inTransaction !== hash)
      problems.push(`the settlement ${use} stands in ${String(hash)}, the chain has it in ${String(inTransaction)}`)
    if (state !== 'settled' && inTransaction !== undefined)
      problems.push(`the settlement ${use} is ${state}, the chain has it in ${inTransaction}`)
    if (state !== 'settled' || inTransaction === undefined) continue
    const moved = transfers.some(
      (one) => one.hash === inTransaction && one.from === payer && one.to === to && String(one.value) === value,
    )
    if (!moved) problems.push(`the settlement ${use} moved nothing to ${to}`)
  }
  for (const [use, hash] of used) if (!known.has(use)) problems.push(`nobody here knows of ${use} in ${hash}`)

  const purchases = await statements.run<{ digest: string }>(
    `SELECT '0x' || encode(p.digest, 'hex') AS digest FROM facilitator_purchase p
     JOIN (SELECT digest FROM sale WHERE state = 'paid') sold ON sold.digest = p.digest
     GROUP BY p.digest HAVING count(*) > 1`,
    [],
  )
  problems.push(...purchases.map(({ digest }) => `${digest} bought two things`))

  for (const [payer, had] of evidence.payers) {
    const spent = transfers.filter(({ from }) => from === payer).reduce((sum, { value }) => sum + value, 0n)
    const balance = evidence.usdc.get(payer) ?? 0n
    if (had - spent !== balance)
      problems.push(`${payer} had ${String(had)}, spent ${String(spent)} and has ${String(balance)}`)
  }
  return problems
}
