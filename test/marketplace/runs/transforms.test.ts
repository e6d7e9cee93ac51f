import { TestClock } from '../../harness/clock.ts'
import { GUESTS } from '../../../service/ledger/model.ts'
import type { ExecutionFailed } from '../../../service/marketplace/errors.ts'
import type { Work } from '../../../service/marketplace/ports/run.ts'
import { createToolExecutor } from '../../../service/marketplace/service/executors/tool.ts'
import { createTransforms } from '../../../service/transforms/transforms.ts'

describe('transforms', () => {
  const clock = new TestClock()
  const runner = createTransforms({ clock, limitMs: 400, waitingMax: 500 })
  const of = { userId: 'usr_creator', environment: 'sandbox' as const, buyer: 'one' }
  const transforms = {
    apply: (expression: string, input: unknown, by = of) => runner.apply(expression, input, by),
    check: (expression: string, by = of) => runner.check(expression, by),
  }

  afterAll(async () => {
    await runner.close()
  })

  test('give what JSONata gives', async () => {
    expect(
      await transforms.apply('items[price > 2].name', {
        items: [
          { name: 'a', price: 3 },
          { name: 'b', price: 1 },
        ],
      }),
    ).toBe('a')
    expect(await transforms.apply('missing', {})).toBeUndefined()
    expect(await transforms.apply('$', null)).toBeNull()
  })

  test('share a few threads when concurrent, each with its own input', async () => {
    const results = await Promise.all(Array.from({ length: 500 }, (_, n) => transforms.apply('n * 2', { n })))
    expect(results).toEqual(Array.from({ length: 500 }, (_, n) => n * 2))
  })

  test.each([
    ['calls itself for ever', '($f := function($x){ $f($x + 1) }; $f(0))'],
    ['backtracks in a regular expression', '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)'],
    ['counts for ever', '$sum($map([1..9999999], function($i){ $sqrt($i) }))'],
  ])('one that %s is refused when set and stopped when run, while others go on', async (_, expression) => {
    expect(await transforms.check(expression)).toMatch(/does not end within|too much memory/)
    const [loops, runs] = await Promise.allSettled([transforms.apply(expression, {}), transforms.apply('1 + 1', {})])
    expect(loops).toMatchObject({ status: 'rejected', reason: { code: expect.stringMatching(/^transform_/) } })
    expect(runs).toMatchObject({ value: 2 })
  })

  test('an expression that timed out repeatedly is refused without running', async () => {
    const expression = '($g := function($x){ $g($x) }; $g(1))'
    for (let times = 0; times < 3; times++) await transforms.apply(expression, {}).catch(() => undefined)
    // Another one that takes all its time, begun before it.
    let isOver = false
    const other = transforms.apply('$sum($map([1..9999999], function($i){ $sqrt($i) }))', {}).catch(() => {
      isOver = true
    })
    await expect(transforms.apply(expression, {})).rejects.toMatchObject({ code: 'transform_timeout' })
    expect(isOver).toBe(false)
    await other
  })

  test('of one buyer ends the patience with that buyer, of many with all, for one creator and a minute', async () => {
    const patience = { ofBuyer: 2, ofGuests: 3, ofAll: 4 }
    const impatient = createTransforms({ clock, limitMs: 100, patience })
    // Ends at once for all inputs but one.
    const expression = '($f := function($x){ $f($x) }; slow ? $f(1) : 1)'
    const by = (buyer: string, userId = 'usr_creator') => ({ ...of, userId, buyer })
    const overrun = async (buyer: string) => {
      await expect(impatient.apply(expression, { slow: true }, by(buyer))).rejects.toMatchObject({
        code: 'transform_timeout',
      })
    }
    const refused = { code: 'transform_timeout' }
    await overrun('one')
    await overrun('one')
    await expect(impatient.apply(expression, {}, by('one'))).rejects.toMatchObject(refused)
    expect(() => {
      impatient.assertPatience(expression, by('one'))
    }).toThrow('it took too long')
    impatient.assertPatience(expression, by('two'))
    expect(await impatient.apply(expression, {}, by('two'))).toBe(1)
    await overrun('two')
    await overrun('three')
    await expect(impatient.apply(expression, {}, by('four'))).rejects.toMatchObject(refused)
    expect(await impatient.apply(expression, {}, by('one', 'usr_other'))).toBe(1)
    clock.forward(60_000)
    expect(await impatient.apply(expression, {}, by('one'))).toBe(1)
    await impatient.close()
  })

  test('of one buyer at the same moment end the patience after as many overruns as one after the other', async () => {
    const impatient = createTransforms({ clock, limitMs: 100, patience: { ofBuyer: 2, ofGuests: 3, ofAll: 3 } })
    const expression = '($f := function($x){ $f($x) }; slow ? $f(1) : 1)'
    const by = (buyer: string) => ({ ...of, buyer })
    const run = (buyer: string, slow: boolean) => impatient.apply(expression, { slow }, by(buyer))
    const all = [...Array.from({ length: 5 }, () => run('one', true)), run('one', false), run('two', false)]
    const outcomes = await Promise.allSettled(all)
    expect(outcomes.map(({ status }) => status)).toEqual([...Array.from({ length: 6 }, () => 'rejected'), 'fulfilled'])
    // Two overruns were counted, so the patience with all is not over.
    expect(await run('three', false)).toBe(1)
    await impatient.close()
  })

  test('of guests end the patience with all guests of that creator, from whichever wallets they pay', async () => {
    const impatient = createTransforms({ clock, limitMs: 100, patience: { ofBuyer: 1, ofGuests: 2, ofAll: 10 } })
    const executor = createToolExecutor({
      callout: { send: () => Promise.reject(new Error('not called')) },
      transforms: impatient,
      assets: { openSecrets: () => ({}) },
    })
    const requestTransform = '($f := function($x){ $f($x) }; slow ? $f(1) : $error("no"))'
    const asset = {
      ownerId: of.userId,
      environment: of.environment,
      content: { config: { type: 'tool', requestTransform } },
    }
    const codeOf = async (payerId: string, subject: string, slow: boolean) => {
      const work = { asset, payerId, subject, inputs: { slow } } as unknown as Work
      const ended = await executor.execute(work, new AbortController().signal).catch((error: unknown) => error)
      return (ended as ExecutionFailed).failure.code
    }
    expect(await codeOf(GUESTS, '0xa1', true)).toBe('transform_timeout')
    expect(await codeOf(GUESTS, '0xa2', true)).toBe('transform_timeout')
    expect(await codeOf(GUESTS, '0xa3', false)).toBe('transform_timeout')
    expect(await codeOf('usr_buyer', 'buyer', false)).toBe('transform_failed')
    await impatient.close()
  })

  test('one that uses too much memory loses its thread, not the process', async () => {
    const expression =
      '($f := function($s, $n){ $n > 40 ? $length($s) : $f($s & $s, $n + 1) }; $f("xxxxxxxxxxxxxxxx", 0))'
    await expect(transforms.apply(expression, {})).rejects.toMatchObject({ code: expect.stringMatching(/^transform_/) })
    expect(await transforms.apply('1', {})).toBe(1)
  })

  test('have limited results and inputs', async () => {
    await expect(transforms.apply('$pad("", 1100000)', {})).rejects.toMatchObject({ code: 'transform_too_large' })
    await expect(transforms.apply('1', 'x'.repeat(2_000_000))).rejects.toMatchObject({ code: 'transform_too_large' })
  })

  test.each([
    ['(', /is not JSONata/],
    ['a'.repeat(10_001), /at most 10000/],
    ['$pad("", 1100000)', /too large/],
  ])('invalid expression %# is refused when set', async (expression, why) => {
    expect(await transforms.check(expression)).toMatch(why)
  })

  test('missing fields in a sample are no error', async () => {
    expect(await transforms.check('$uppercase(city) & $string(a.b.c)')).toBeNull()
    expect(await transforms.check('$number("no")')).toBeNull()
  })

  test('cannot see the process', async () => {
    await expect(transforms.apply('$eval("process.env")', {})).resolves.toBeUndefined()
    await expect(transforms.apply('$lookup($, "__proto__")', {})).resolves.toBeUndefined()
  })
})
