import { act, type Acting } from '../programs.ts'
import type { World } from '../world.ts'
import { makeAgent } from './agent.ts'

/** Failures end in an error that says what to do next, or in an item that carries it. */
export function refusalsStory(world: () => World): void {
  describe('the Coinslot node refuses with a sentence that says what to do next', () => {
    it.each<[string, string, (world: World) => Promise<Refused>, RegExp, string]>([
      [
        'a wrong key',
        'unauthenticated',
        async (w) => ({ ...COUNT, credential: await w.makeCredential({ apiKey: 'csk_test_nobody' }) }),
        /does not accept the API key of the credential\. Make a new key/,
        '401',
      ],
      [
        'an archived RDA',
        'rda_not_found',
        async (w) => {
          await w.archive('product-description')
          return { ...COUNT, parameters: { ...COUNT.parameters, rda: named('product-description') } }
        },
        /There is no such marketplace asset for this account: it may be archived.*Choose another one/,
        '404',
      ],
      [
        'a balance that is too low',
        'insufficient_balance',
        async (w) => ({
          ...COUNT,
          parameters: { ...COUNT.parameters, rda: named(await makeDear(w)), inputsJson: '{"x":"y"}' },
        }),
        /balance is too low: this costs 5000 USDC and [\d.]+ USDC is available\. Nothing was paid\. Top up/,
        '402',
      ],
      [
        'a limit that is reached',
        'spending_limit',
        async (w) => ({ ...COUNT, credential: (await makeAgent(w, { perCall: 0.001 })).credential }),
        /A spending limit of the agent stops this:.*One call may cost 0\.001 USDC, and this would cost 0\.005 USDC/,
        '403',
      ],
      [
        'a payment that a person must approve',
        'approval_required',
        async (w) => ({ ...COUNT, credential: (await makeAgent(w, {}, { approvalAbove: 0.001 })).credential }),
        /A person must approve this first: approval apr_\w+, open until .* UTC\. Nothing was paid\. Approve it/,
        '202',
      ],
      [
        'inputs that the asset does not take',
        'invalid_input',
        async () => ({ ...COUNT, parameters: { ...COUNT.parameters, inputsJson: '{"txt":"y"}' } }),
        /text: is required/,
        '400',
      ],
    ])('%s', async (_, code, refused, sentence, httpCode) => {
      const { parameters, ...acting } = await refused(world())
      const failed = await act(world(), parameters, acting)
      expect(failed.status).toBe('error')
      expect(failed.error('Coinslot')).toMatchObject({
        name: 'NodeApiError',
        message: expect.stringMatching(sentence),
        httpCode,
      })

      const continued = await act(world(), parameters, { ...acting, onError: 'continueRegularOutput' })
      expect(continued.status).toBe('success')
      expect(continued.items('Coinslot')).toEqual([
        expect.objectContaining({ error: expect.stringMatching(sentence), code }),
      ])
    })

    it('a service that is down', async () => {
      await world().outage(async () => {
        const failed = await act(world(), COUNT.parameters)
        expect(failed.error('Coinslot')).toMatchObject({
          name: 'NodeApiError',
          message: expect.stringMatching(/Coinslot cannot be reached at .*Check the service address/),
        })
        const continued = await act(world(), COUNT.parameters, { onError: 'continueRegularOutput' })
        expect(continued.items('Coinslot')).toEqual([{ error: expect.stringMatching('cannot be reached') }])
      })
    })

    it('a failed item, while the others go on, with an error output if chosen', async () => {
      const parameters = { ...COUNT.parameters, inputsJson: '={{ $json }}' }
      const input = [{ text: 'one' }, { txt: 'two' }, { text: 'three' }]
      const continued = await act(world(), parameters, { input, onError: 'continueErrorOutput' })
      const [good, bad] = continued.runs('Coinslot')[0]?.data?.main ?? []
      expect(good?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }])
      expect(bad).toEqual([expect.objectContaining({ pairedItem: { item: 1 } })])
      expect(bad?.[0]?.json).toEqual({ txt: 'two', error: expect.stringMatching('text: is required') })
    })
  })
}

type Refused = Acting & { parameters: Record<string, unknown> }

const COUNT: Refused = {
  parameters: {
    ...{ resource: 'rda', operation: 'run', rda: named('text-statistics') },
    ...{ specifyInputs: 'json', inputsJson: '{"text":"One two."}' },
  },
}

function named(value: string) {
  return { __rl: true, mode: 'id', value }
}

/** A draft of the account's own: its author pays for its runs as other users do. */
async function makeDear(world: World): Promise<string> {
  const slug = 'dear-prompt'
  await world.call('POST', '/rda', {
    ...{ slug, type: 'prompt', name: 'Dear', description: 'Costs a lot', pricing: { model: 'per-run', amount: 5000 } },
    inputSchema: [{ name: 'x', type: 'text' }],
    promptConfig: { promptTemplate: '{{x}}', allowedModels: ['sandbox/echo'], defaultModelId: 'sandbox/echo' },
  })
  return slug
}
