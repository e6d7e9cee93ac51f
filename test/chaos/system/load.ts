import { setTimeout as wait } from 'node:timers/promises'
import { Agent } from 'undici'
import { send as transfer } from '../../wallet/world.ts'
import { request, MAKING } from './asks.ts'
import type { Chance } from './chance.ts'
import { send, type Act, type Kind, type Reply } from './journal.ts'
import type { World } from './world.ts'

/** Clients of every kind. Each makes one request after the other and records the responses. */
export interface Load {
  readonly acts: readonly Act[]
  /** Starts no more acts of this kind; without a kind, of any. */
  stop(kind?: Kind): void
  /** Resolves when all started acts have ended for now, or wait to be repeated. */
  rested(): Promise<void>
  /** Repeats every request that has no final response yet; returns how many still have none. */
  repeatOpen(): Promise<number>
}

export function startLoad(world: World, chance: Chance, mark: string): Load {
  const acts: Act[] = []
  /** Acts that are not being requested right now. */
  const resting = new Set<Act>()
  const stopped = new Set<Kind>()
  const agent = new Agent({ connections: 256, pipelining: 1 })
  const { origin } = world.topology
  let count = 0

  const nameOf = (kind: Kind): string => `${mark}-${kind}-${String(++count)}`
  const clients = [
    ...CLIENTS.map(([kind, pauseMs], place) => run(kind, pauseMs, chance.apart(`${kind} ${String(place)}`))),
    comeBack(),
  ]

  /** A paid response is available for ten minutes: clients without a response ask again before that. */
  async function comeBack(): Promise<void> {
    for (let look = 1; stopped.size < KINDS_OF_CLIENTS; look++) {
      if (look % 60 === 0) await repeatOpen()
      await wait(1_000)
    }
  }

  async function run(kind: Kind, pauseMs: number, own: Chance): Promise<void> {
    while (!stopped.has(kind)) {
      if (kind === 'deposit') await deposit(own)
      else if (kind !== 'gate-draw') await buy(kind, own)
      await wait(pauseMs * (0.5 + own.draw()))
    }
  }

  async function buy(kind: Exclude<Kind, 'gate-draw' | 'deposit'>, own: Chance): Promise<void> {
    const name = nameOf(kind)
    const act = begin(kind, name, await MAKING[kind].make(world, name, own))
    await pursue(act, 2, MAKING[kind].isFinal)
    const token = act.final?.headers['x-payment-token']
    if (kind !== 'gate-prepaid' || typeof token !== 'string') return
    for (let draw = own.whole(0, 3); draw > 0; draw--) {
      const drawn = nameOf('gate-draw')
      const path = `/gate/${world.goods.gate}/metered?act=${drawn}`
      const of = request('GET', path, null, null, { 'x-payment-token': token })
      const { draw: amount } = world.goods.prices
      const once = begin(
        'gate-draw',
        drawn,
        { ...of, body: null, nonce: null, amount, address: act.request.address },
        true,
      )
      once.final = await send(origin, once, agent, WAIT_MS)
    }
  }

  /** Deposits arrive on chain; every second time the owner reports it, instead of waiting for the monitor. */
  async function deposit(own: Chance): Promise<void> {
    const buyer = own.of(world.buyers)
    const value = BigInt(own.whole(100_000, 3_000_000))
    const transactionHash = await transfer(world.chain, [{ to: buyer.deposit, value }])
    if (own.whole(1, 2) === 1) return
    const name = nameOf('deposit')
    const body = { amount: Number(value) / 1e6, transactionHash }
    const of = request('POST', '/v1/wallet/deposit', name, buyer.key)
    const act = begin('deposit', name, { ...of, body, nonce: null, amount: value, address: buyer.deposit })
    await wait(3_000)
    await pursue(act, 3, isDeposited)
  }

  function begin(kind: Kind, name: string, of: Act['request'], once = false): Act {
    const act: Act = { kind, name, request: of, replies: [], waits: [], sent: 0, final: null, follow: null, once }
    acts.push(act)
    return act
  }

  async function pursue(act: Act, times: number, isFinal: (reply: Reply) => boolean): Promise<void> {
    resting.delete(act)
    for (let time = 0; time < times && act.final === null; time++) {
      if (time > 0) await wait(500)
      const reply = await send(origin, act, agent, WAIT_MS)
      if (reply !== null && isFinal(reply)) act.final = reply
    }
    if (act.final === null) resting.add(act)
  }

  async function repeatOpen(): Promise<number> {
    const open = [...resting].filter(({ once }) => !once)
    const next = open[Symbol.iterator]()
    const hands = Array.from({ length: 16 }, async () => {
      for (const act of next) {
        await pursue(act, 1, act.kind === 'deposit' ? isDeposited : MAKING[act.kind as keyof typeof MAKING].isFinal)
      }
    })
    await Promise.all(hands)
    return open.filter(({ final }) => final === null).length
  }

  return {
    acts,
    stop(kind) {
      for (const [each] of CLIENTS) if (kind === undefined || kind === each) stopped.add(each)
    },
    rested: async () => {
      await Promise.all(clients)
    },
    repeatOpen,
  }
}

/** A reorganisation may have removed the transfer for good: then the chain decides, and the deposit is refused. */
const isDeposited = ({ status }: Reply): boolean => status === 200 || status === 409 || status === 400

const WAIT_MS = 30_000

/** One client per line, each with a pause between two acts. */
const CLIENTS: readonly (readonly [Kind, number])[] = [
  ['checkout', 300],
  ['checkout', 300],
  ['settle', 250],
  ['settle', 250],
  ['run', 150],
  ['run', 150],
  ['tool', 100],
  ['tool', 100],
  ['tool-x402', 400],
  ['gate-exact', 300],
  ['gate-exact', 300],
  ['gate-prepaid', 400],
  ['pay', 700],
  ['pay', 700],
  ['deposit', 500],
  ['withdraw', 600],
]
const KINDS_OF_CLIENTS = new Set(CLIENTS.map(([kind]) => kind)).size
