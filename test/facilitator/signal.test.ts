import { Arrivals, Endings, Signal } from '../../service/facilitator/service/signal.ts'
import type { Settlement } from '../../service/facilitator/model.ts'

const LONG_MS = 3_600_000

describe('a signal', () => {
  it('wakes those who wait, and those who have not seen it yet', async () => {
    const signal = new Signal()
    const before = signal.count
    const waiting = signal.wait(LONG_MS)
    signal.notify()
    await waiting
    await signal.wait(LONG_MS, before)
    expect(signal.count).toBe(before + 1)
  })

  it('wakes by itself when the time is up', async () => {
    const signal = new Signal()
    await signal.wait(1)
    expect(signal.count).toBe(0)
  })
})

describe('the endings of authorizations', () => {
  const settled = { digest: '0x01', txHash: '0x02' } as unknown as Settlement

  it('reach all watches of this authorization, also those that do not wait yet', async () => {
    const endings = new Endings()
    const [first, second, other] = [endings.watch('0x01'), endings.watch('0x01'), endings.watch('0x03')]
    const waiting = first.next(LONG_MS)
    endings.notify('0x01', settled)
    expect(await waiting).toBe(settled)
    expect(await second.next(LONG_MS)).toBe(settled)
    expect(await other.next(1)).toBeNull()
  })

  it('are reported once to each watch, and not to a closed one', async () => {
    const endings = new Endings()
    const [watch, closed] = [endings.watch('0x01'), endings.watch('0x01')]
    closed.close()
    endings.notify('0x01', settled)
    expect(await watch.next(LONG_MS)).toBe(settled)
    expect(await watch.next(1)).toBeNull()
    expect(await closed.next(1)).toBeNull()
  })

  it('without a settlement let everyone read for themselves', async () => {
    const endings = new Endings()
    const watches = [endings.watch('0x01'), endings.watch('0x03')]
    endings.notify('0x01', settled)
    endings.notifyAll()
    expect(await Promise.all(watches.map((watch) => watch.next(LONG_MS)))).toEqual([null, null])
  })
})

describe('arrivals', () => {
  it('are counted for each network until their check is over, also when it fails', async () => {
    const arrivals = new Arrivals()
    let pass: (() => void) | undefined
    const first = arrivals.during('base', () => new Promise<void>((resolve) => (pass = resolve)))
    const before = arrivals.checked.count
    const second = arrivals.during('base', () => Promise.reject(new Error('the chain is away')))
    expect(arrivals.count('base')).toBe(2)
    expect(arrivals.count('base-sepolia')).toBe(0)
    await expect(second).rejects.toThrow('the chain is away')
    await arrivals.checked.wait(LONG_MS, before)
    expect(arrivals.count('base')).toBe(1)
    pass?.()
    await first
    expect(arrivals.count('base')).toBe(0)
  })
})
