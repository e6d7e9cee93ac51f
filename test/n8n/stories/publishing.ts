import { published } from '../payments.ts'
import type { World } from '../world.ts'

/** Publishing and unpublishing when something is wrong. */
export function publishingStory(world: () => World): void {
  describe('publishing fails with a sentence that says what to do', () => {
    it.each<[string, Record<string, unknown>, Record<string, unknown>, RegExp]>([
      [
        'when no service listens at the address',
        {},
        { url: 'http://127.0.0.1:1/v1' },
        /cannot be reached at http:\/\/127\.0\.0\.1:1\/v1.*Check the service address/,
      ],
      ['when the key is of no use', {}, { apiKey: 'csk_test_nobody' }, /does not accept the API key.*Make a new key/],
      ['when the key is of the other environment', {}, { environment: 'production' }, /csk_test_ are for Sandbox/],
      [
        'when a sandbox is to sell for real money',
        { testMode: false, network: 'base', recipient: 'address', recipientAddress: `0x${'5e'.repeat(20)}` },
        {},
        /Network: must be base-sepolia/,
      ],
      [
        'when a field has no name',
        { customerFields: { fields: [{ label: '日本', type: 'text' }] } },
        {},
        /Customer Fields #1 name: must begin with a letter/,
      ],
    ])('%s', async (_, parameters, data, sentence) => {
      const workflow = await world().makeWorkflow(parameters, await world().makeCredential(data))
      await expect(workflow.publish()).rejects.toThrow(sentence)
      await expect(workflow.storedData()).resolves.not.toHaveProperty('secret')
    })
  })

  it('unpublishes and forgets the checkout also while the service is down', async () => {
    const workflow = await published(world())
    await world().outage(() => workflow.unpublish())
    expect(await workflow.storedData()).toEqual({})
  })
}
