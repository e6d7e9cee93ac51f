import { act, runFile } from '../programs.ts'
import { imported } from '../examples.ts'
import type { World } from '../world.ts'

/** The tools of the proxy, as the sandbox ships them. */
export function toolsStory(world: () => World): void {
  describe('the tools of the Coinslot node', () => {
    it('are found by what they do, and returned with their inputs', async () => {
      const found = await act(world(), {
        resource: 'tool',
        operation: 'search',
        search: 'astronomy picture of the day',
        limit: 5,
      })
      expect(found.error('Coinslot')).toBeUndefined()
      expect(found.items('Coinslot')[0]).toMatchObject({ slug: APOD, price: expect.any(Number) })
      const read = await act(world(), { resource: 'tool', operation: 'get', tool: named(APOD) })
      expect(read.items('Coinslot')).toEqual([
        expect.objectContaining({ slug: APOD, inputSchema: expect.objectContaining({ type: 'object' }) }),
      ])
    })

    it('are called with mapped inputs, and paid by the free credits first', async () => {
      const inputs = {
        mappingMode: 'defineBelow',
        value: { date: '2026-11-01', hd: true },
        matchingColumns: [],
        schema: [],
      }
      const called = await act(world(), {
        resource: 'tool',
        operation: 'call',
        tool: named(APOD),
        specifyInputs: 'fields',
        inputs,
      })
      expect(called.error('Coinslot')).toBeUndefined()
      const [result] = called.items('Coinslot')
      expect(result).toMatchObject({ success: true, tool: APOD, callId: expect.any(String), cost: expect.any(Number) })
      expect(result!['credits']).toBeCloseTo(5 - result!['cost'], 6)
    })

    it('that were removed name their successor, and unknown inputs are refused by name', async () => {
      const found = await act(world(), { resource: 'tool', operation: 'search', search: 'list issues', limit: 1 })
      const slug = found.items('Coinslot')[0]!['slug'] as string
      await world().removeTool(slug, APOD)
      const called = await act(world(), {
        resource: 'tool',
        operation: 'call',
        tool: named(slug),
        specifyInputs: 'json',
        inputsJson: '{}',
      })
      expect(called.error('Coinslot')).toMatchObject({
        name: 'NodeApiError',
        message: `This tool was removed. Use ${APOD} instead.`,
        httpCode: '410',
      })
      const wrong = {
        resource: 'tool',
        operation: 'call',
        tool: named(APOD),
        specifyInputs: 'json',
        inputsJson: '{"dat":"x"}',
      }
      const refused = await act(world(), wrong, { onError: 'continueRegularOutput' })
      expect(refused.items('Coinslot')).toEqual([
        expect.objectContaining({ code: 'invalid_input', error: expect.stringMatching('dat') }),
      ])
    })

    it('are called by the example tool on a schedule', async () => {
      const ran = await runFile(
        world(),
        imported('tool-on-a-schedule', { coinslotApi: world().credential }),
        'Every morning',
      )
      expect(ran.error('Picture of the day')).toBeUndefined()
      expect(ran.items('Post it')).toEqual([
        { picture: expect.anything(), cost: expect.any(Number), left: expect.any(Number) },
      ])
      expect(ran.runs('Ask for a top-up')).toEqual([])
    })
  })
}

const APOD = 'nasa-get-apod'

function named(value: string) {
  return { __rl: true, mode: 'id', value }
}
