import { credentialData, type World } from '../world.ts'

/** The message that a user gets when n8n tests the new credential. */
export function credentialStory(world: () => World): void {
  describe('the credential', () => {
    it.each<[string, (world: World) => Record<string, unknown>, { status: string; message: RegExp }]>([
      ['works', () => ({}), { status: 'OK', message: /successful/ }],
      ['works with a slash at the end', (w) => ({ url: `${w.apiUrl}/` }), { status: 'OK', message: /successful/ }],
      [
        'says that the key is of no use',
        () => ({ apiKey: 'csk_test_nobody' }),
        { status: 'Error', message: /does not accept this API key/ },
      ],
      [
        'says that the key is of the other environment',
        () => ({ environment: 'production' }),
        { status: 'Error', message: /belongs to the other environment/ },
      ],
      [
        'says that no service is at the address',
        (w) => ({ url: `${w.apiUrl}/nowhere` }),
        { status: 'Error', message: /No Coinslot service answered at this address/ },
      ],
      [
        'reports a refused connection',
        () => ({ url: 'http://127.0.0.1:1/v1' }),
        { status: 'Error', message: /refused/i },
      ],
    ])('%s', async (_, data, expected) => {
      const { id, name } = world().credential
      const credentials = { id, name, type: 'coinslotApi', data: credentialData(world().apiUrl, data(world())) }
      const { status, message } = await world().n8n.request('POST', '/rest/credentials/test', { credentials })
      expect({ status, message }).toEqual({
        status: expected.status,
        message: expect.stringMatching(expected.message),
      })
    })
  })
}
