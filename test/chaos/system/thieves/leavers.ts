import { setTimeout as wait } from 'node:timers/promises'
import type { Hex } from '../../../../service/chain/model.ts'
import { transfer } from '../../../wallet/world.ts'
import { sign } from '../asks.ts'
import type { Robbery, Theft, TheftKind, TheftRequest } from './book.ts'

/** Buys, and hangs up as soon as the server behind it has the request: the work there has been done. */
export async function leave(robbery: Robbery): Promise<void> {
  const { world, book, chance } = robbery
  const { goods, thief, echo } = world
  const kind = chance.of(['leave-run', 'leave-tool', 'leave-tool-x402', 'leave-gate'] as const)
  const name = book.nextName(kind)
  const keyed = { authorization: `Bearer ${thief.key}` }
  const asset = chance.of([
    { rdaSlug: goods.agentAsset, inputs: { topic: name } },
    { rdaSlug: goods.toolAsset, inputs: { act: name } },
  ])
  const accounted: Readonly<Record<'leave-run' | 'leave-tool', TheftRequest>> = {
    'leave-run': { method: 'POST', path: '/v1/run', headers: keyed, body: asset },
    'leave-tool': { method: 'POST', path: `/tools/${goods.tool}`, headers: keyed, body: { act: name } },
  }
  const [theft, request] =
    kind === 'leave-run' || kind === 'leave-tool'
      ? [book.begin(kind, name, 'account'), accounted[kind]]
      : await paid(robbery, kind, name, 3_600)
  const hangUp = new AbortController()
  const arrived = echo.waitFor(name, 10_000)
  const sent = book.send(theft, request, hangUp.signal)
  await Promise.race([arrived, sent])
  hangUp.abort()
  await sent
}

/** Cancels a run whose work has begun. */
export async function cancel({ world, book }: Robbery): Promise<void> {
  const { goods, thief, echo } = world
  const name = book.nextName('cancel')
  const headers = { authorization: `Bearer ${thief.key}` }
  const theft = book.begin('cancel', name, 'account')
  const arrived = echo.waitFor(name, 5_000)
  const body = { rdaSlug: goods.agentAsset, inputs: { topic: name }, async: true }
  await book.send(theft, { method: 'POST', path: '/v1/run', headers, body })
  const run = /"runId":"(run_\w+)"/.exec(theft.received)?.[1]
  if (run === undefined || !(await arrived)) return
  await book.send(theft, { method: 'POST', path: `/v1/runs/${run}/cancel`, headers, body: {} })
}

/** Pays with a wallet that is emptied before the transfer. */
export async function empty(robbery: Robbery): Promise<void> {
  const { world, book, chance } = robbery
  const kind = chance.of(['empty-gate', 'empty-tool'] as const)
  const name = book.nextName(kind)
  const [theft, request, payer] = await paid(robbery, kind, name, 3_600)
  const arrived = world.echo.waitFor(name, 3_000)
  const sent = book.send(theft, request)
  await (kind === 'empty-gate' ? Promise.race([arrived, sent]) : wait(chance.whole(0, 200)))
  await transfer(world.chain, payer, world.thief.pocket, world.purse).catch(() => undefined)
  await sent
}

/** Sends an authorization that is about to expire, and never returns. */
export async function lapse(robbery: Robbery): Promise<void> {
  const { book, chance } = robbery
  const kind = chance.of(['lapse-gate', 'lapse-tool'] as const)
  const name = book.nextName(kind)
  const [theft, request] = await paid(robbery, kind, name, chance.whole(1, 12))
  await book.send(theft, request)
}

/** A request with an authorization of the thief's own; each of the wallets is used for one thing after the other. */
async function paid(
  { world, book, chance }: Robbery,
  kind: TheftKind,
  name: string,
  livesSeconds: number,
): Promise<[Theft, TheftRequest, Hex]> {
  const { goods, thief } = world
  const half = thief.payers.length / 2
  // The wallets that are emptied are not used for paying.
  const payer = chance.of(kind.startsWith('empty') ? thief.payers.slice(half) : thief.payers.slice(0, half))
  const isTool = kind.includes('tool')
  const [to, amount] = isTool ? [goods.treasury, goods.prices.tool] : [world.recipient, goods.prices.exact]
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + livesSeconds)
  const { header, nonce } = await sign(world, payer, to, amount, { validBefore })
  const headers = { 'payment-signature': header }
  const theft = book.begin(kind, name, { payer: payer.address, nonce })
  const request: TheftRequest = isTool
    ? { method: 'POST', path: `/tools/pay/${goods.tool}`, headers, body: { act: name } }
    : { method: 'GET', path: `/gate/${goods.gate}/exact?act=${name}`, headers }
  return [theft, request, payer.address]
}
