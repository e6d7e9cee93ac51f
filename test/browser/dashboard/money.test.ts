import { inBrowser } from '../chromium.ts'
import { checkouts } from './checkouts.story.ts'
import { disputes } from './disputes.story.ts'
import { overview } from './overview.story.ts'
import { settings } from './settings.story.ts'
import { shell } from './shell.story.ts'
import { signIn } from './sign-in.story.ts'
import { wallet } from './wallet.story.ts'
import { openDesk, type Desk } from './desk.ts'

/** One service and one browser for all of them: each story's people are its own. */
inBrowser('the dashboard for whoever is paid', () => {
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk({ ALLOW_HOSTS: '127.0.0.1' })
  })
  afterAll(() => desk.close())

  shell(() => desk)
  signIn(() => desk)
  overview(() => desk)
  wallet(() => desk)
  checkouts(() => desk)
  disputes(() => desk)
  settings(() => desk)

  it('sends no request to another origin and causes no error', () => {
    expect(desk.problems()).toEqual([])
  })
})
