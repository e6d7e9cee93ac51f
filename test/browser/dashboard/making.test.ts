import { inBrowser } from '../chromium.ts'
import { agents } from './agents.story.ts'
import { assets } from './assets.story.ts'
import { changes } from './changes.story.ts'
import { connections } from './connections.story.ts'
import { forms } from './forms.story.ts'
import { keys } from './keys.story.ts'
import { tools } from './tools.story.ts'
import { openDesk, type Desk } from './desk.ts'

/** One service and one browser for all of them: each story's people are its own. */
inBrowser('the dashboard for whoever makes something', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ ALLOW_HOSTS: '127.0.0.1' })
  })
  afterAll(() => desk.close())

  assets(() => desk)
  changes(() => desk)
  tools(() => desk)
  connections(() => desk)
  agents(() => desk)
  keys(() => desk)
  forms(() => desk)

  it('sends no request to another origin and causes no error', () => {
    expect(desk.problems()).toEqual([])
  })
})
