import { inBrowser } from '../chromium.ts'
import { openDesk, STORY_MS, type Desk } from './desk.ts'

inBrowser('the overview of the dashboard', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk()
  })
  afterAll(() => desk.close())

  it(
    'is usable within two seconds',
    async () => {
      const { page } = await desk.sit('/')
      await page.getByText('1 of 5 steps are done.').waitFor()
      // The best of three, since other suites run on this machine, too. A page without a script shows how busy it is.
      const durations: number[] = []
      const plain: number[] = []
      for (let time = 0; time < 3; time++) {
        plain.push(await msUntil(() => page.goto(`${desk.origin}/docs`)))
        durations.push(
          await msUntil(async () => {
            await page.goto(desk.origin)
            await page.getByText('1 of 5 steps are done.').waitFor()
          }),
        )
      }
      process.stderr.write(
        `overview: usable after ${durations.join(', ')} ms, a plain page after ${plain.join(', ')} ms\n`,
      )
      expect(Math.min(...durations)).toBeLessThan(Math.max(2_000, TIMES_PLAIN * Math.min(...plain)))
    },
    STORY_MS,
  )
})

async function msUntil(done: () => Promise<unknown>): Promise<number> {
  const started = Date.now()
  await done()
  return Date.now() - started
}

/** On a machine with nothing else to do, two seconds are about as many times what a page without a script takes. */
const TIMES_PLAIN = 12
