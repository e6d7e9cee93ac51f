import { BadLine } from '../lines.ts'
import { act } from '../programs.ts'
import type { World } from '../world.ts'

/** "Retry on fail" pays once, even if requests or responses are lost. */
export function retriesStory(world: () => World): void {
  describe('trying again', () => {
    it('pays once, also when the answers to the first tries get lost', async () => {
      // The node itself sends each request twice, and n8n tries three times: five of the six responses are lost.
      const line = await new BadLine(world().apiUrl, 5).listen()
      try {
        const before = await spent(world())
        const credential = await world().makeCredential({ url: line.url })
        const ran = await act(world(), COUNT, { credential, retryOnFail: true, maxTries: 3, waitBetweenTries: 1 })
        expect(ran.error('Coinslot')).toBeUndefined()
        expect(line.keys).toHaveLength(6)
        expect(new Set(line.keys).size).toBe(1)
        expect(ran.items('Coinslot')).toEqual([expect.objectContaining({ success: true, cost: 0.005 })])
        expect(await spent(world())).toBeCloseTo(before + 0.005, 6)
      } finally {
        await line.close()
      }
    })

    it('a batch because of one item does not pay for the others again', async () => {
      const line = await new BadLine(world().apiUrl, 0).listen()
      try {
        const before = await spent(world())
        const credential = await world().makeCredential({ url: line.url })
        // n8n retries a whole batch when its first item carries an error.
        const input = [{ txt: 'one' }, { text: 'two' }, { text: 'three' }]
        const settings = { credential, input, retryOnFail: true, maxTries: 3, waitBetweenTries: 1 }
        const ran = await act(
          world(),
          { ...COUNT, inputsJson: '={{ $json }}' },
          { ...settings, onError: 'continueRegularOutput' },
        )
        expect(ran.items('Coinslot')).toHaveLength(3)
        expect(line.keys).toHaveLength(9)
        expect(await spent(world())).toBeCloseTo(before + 0.01, 6)
      } finally {
        await line.close()
      }
    })

    it('in a new execution pays again', async () => {
      const before = await spent(world())
      await act(world(), COUNT)
      await act(world(), COUNT)
      expect(await spent(world())).toBeCloseTo(before + 0.01, 6)
    })
  })
}

async function spent(world: World): Promise<number> {
  const { wallet } = (await world.get('/wallet/balance')) as { wallet: { totalSpent: number } }
  return wallet.totalSpent
}

const COUNT = {
  ...{ resource: 'rda', operation: 'run', rda: { __rl: true, mode: 'id', value: 'text-statistics' } },
  ...{ specifyInputs: 'json', inputsJson: '{"text":"One two."}' },
}
