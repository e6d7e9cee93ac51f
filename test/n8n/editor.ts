import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { startBrowser } from '../browser/chromium.ts'
import { OWNER, type N8n } from './n8n.ts'
import { until, type Workflow } from './world.ts'

export interface Editor {
  /** From an empty canvas to a first payment that is seen in n8n: the seconds that it takes. */
  start(round: number): Promise<number>
  /** Opens the trigger's panel, listens, pays at the form that it opens, and waits for the payment to appear. */
  walk(workflow: Workflow): Promise<void>
  /** Opens the panel of the Coinslot node, chooses from its lists, and checks the fields of each resource. */
  fillIn(workflowId: string): Promise<void>
  /** The names of the nodes that the panel for adding a node finds by a word. */
  search(workflowId: string, word: string): Promise<string[]>
  /** Shows a workflow as a whole. */
  show(workflowId: string, name: string): Promise<void>
  close(): Promise<void>
}

/** n8n's editor in a browser, with its owner logged in. */
export async function openEditor(n8n: N8n, version: string): Promise<Editor> {
  const browser = await startBrowser()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  // A bundle of some megabytes, on a machine that does other work as well.
  page.setDefaultTimeout(60_000)
  await page.goto(`${n8n.origin}/signin`)
  await page.locator('input[type="email"]').fill(OWNER.email)
  await page.locator('input[type="password"]').fill(OWNER.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(/home|workflow/)
  const picture = pictures(version)
  return {
    async start(round) {
      await page.goto(`${n8n.origin}/workflow/new`)
      await named(page, 'canvas-add-button').waitFor()
      const startedAt = performance.now()
      await named(page, 'canvas-add-button').getByRole('button').first().click()
      await named(page, 'node-creator-search-bar').fill('pay-to-run')
      await named(page, 'node-creator-item-name').filter({ hasText: 'Coinslot Pay-to-Run Trigger' }).first().click()
      // n8n shows the details of a community node before it adds it.
      await page.getByRole('button', { name: 'Add to workflow' }).click()
      await named(page, 'parameter-input-productName').locator('input, textarea').first().fill('SEO audit')
      await page.getByTitle(/webhook URLs/i).click()
      const address = await page
        .getByText(/\/webhook-test\/.+\/pay$/)
        .first()
        .innerText()
      await picture(page, `start-panel-${round}`)
      await named(page, 'trigger-execute-button').first().click()
      await page.getByText('Listening for test event').waitFor()
      await pay(browser, address.trim(), picture, {})
      await named(page, 'output-panel').getByText('simulated:').first().waitFor()
      const seconds = (performance.now() - startedAt) / 1_000
      await picture(page, `start-paid-${round}`)
      await listenerEnded(address.trim())
      return seconds
    },
    async walk(workflow) {
      await page.goto(`${n8n.origin}/workflow/${workflow.id}`)
      const trigger = named(page, 'canvas-trigger-node').first()
      await trigger.waitFor()
      await page.getByText('5 USDC · test').waitFor()
      await picture(page, 'canvas')

      await trigger.dblclick()
      await named(page, 'trigger-header').getByText('Take a test payment').waitFor()
      await named(page, 'parameter-input-productName').waitFor()
      await picture(page, 'panel')
      await named(page, 'fixed-collection-customerFields').scrollIntoViewIfNeeded()
      await picture(page, 'fields')
      await page.getByTitle(/webhook URLs/i).click()
      await page.getByText(workflow.address('webhook-test')).waitFor()
      await named(page, 'trigger-execute-button').first().click()
      await page.getByText('Listening for test event').waitFor()
      await picture(page, 'listening')

      await pay(browser, workflow.address('webhook-test'), picture, {
        'Your website': 'https://example.com',
        'Your e-mail': 'ada@example.com',
      })
      const output = named(page, 'output-panel')
      await output.getByText('your_website').first().waitFor()
      await output.locator('[data-test-id="radio-button-json"]').click()
      await output.getByText('"receivedAt"').first().waitFor()
      await picture(page, 'paid')
      await listenerEnded(workflow.address('webhook-test'))
    },
    async fillIn(workflowId) {
      await page.goto(`${n8n.origin}/workflow/${workflowId}`)
      await onCanvas(page, 'Coinslot').dblclick()
      await named(page, 'parameter-input-resource').waitFor()
      await choose(page, 'rda', 'blog outline', /^Blog Outline Writer/, picture)
      // The fields of the chosen prompt, by their labels.
      for (const label of ['Topic (required)', 'Audience (required)', 'Sections'])
        await page.getByText(label, { exact: true }).first().waitFor()
      await named(page, 'mapping-fields-container').locator('input, textarea').first().fill(TOPIC)
      // n8n's own words for a mapper are of databases.
      if (await page.getByText(/mapping column mode/i).isVisible()) throw new Error('the panel speaks of columns')
      // Moves the pointer off the field, whose tooltip hides the next one.
      await page.getByText('Specify Inputs').click()
      await picture(page, 'coinslot-rda')
      for (const [resource, mark] of [
        ['Paid URL', 'maxAmount'],
        ['Run', 'runId'],
        ['Wallet', 'operation'],
        ['Tool', 'tool'],
      ] as const) {
        await named(page, 'parameter-input-resource').locator('input').click()
        await page.getByRole('option', { name: new RegExp(`^${resource}`) }).click()
        await page.locator(`[data-test-id*="${mark}"]`).first().waitFor()
        await picture(page, `coinslot-${resource.toLowerCase().replace(' ', '-')}`)
      }
    },
    async search(workflowId, word) {
      await page.goto(`${n8n.origin}/workflow/${workflowId}`)
      await named(page, 'canvas-node').first().waitFor()
      await named(page, 'node-creator-plus-button').first().click()
      await named(page, 'node-creator-search-bar').fill(word)
      await named(page, 'node-creator-item-name').filter({ hasText: 'Coinslot' }).first().waitFor()
      await picture(page, `search-${word}`)
      const names = await named(page, 'node-creator-item-name').allInnerTexts()
      await page.keyboard.press('Escape')
      return names.map((name) => name.trim())
    },
    async show(workflowId, name) {
      await page.goto(`${n8n.origin}/workflow/${workflowId}`)
      await named(page, 'canvas-node').first().waitFor()
      await page.getByText('Loading', { exact: true }).waitFor({ state: 'hidden' })
      // Fits the whole workflow in, and a little smaller, so that the button below hides nothing.
      await page.keyboard.press('1')
      await page.keyboard.press('-')
      await picture(page, name)
    },
    close: () => browser.close(),
  }
}

/** Pays as a customer does, from the address that the panel shows. */
async function pay(
  browser: Browser,
  address: string,
  picture: Picture,
  input: Readonly<Record<string, string>>,
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.goto(address)
  for (const [label, text] of Object.entries(input)) await page.getByLabel(label).fill(text)
  if (Object.keys(input).length > 0) await picture(page, 'form')
  await page.getByRole('button', { name: /simulate/i }).click()
  await page.getByText('Order started').waitFor()
  await page.close()
}

/** The next listener must not meet this one while it ends: see `N8n.quiet`. */
async function listenerEnded(address: string): Promise<void> {
  await until(async () => (await fetch(address)).status === 404)
}

const TOPIC = 'Why small teams ship faster'

/** Chooses from a list that searches at the service. */
async function choose(page: Page, parameter: string, words: string, entry: RegExp, picture: Picture): Promise<void> {
  await named(page, `resource-locator-${parameter}`).locator('input').last().click()
  const found = named(page, 'rlc-item').filter({ hasText: entry, visible: true }).first()
  await found.waitFor()
  await picture(page, `coinslot-${parameter}-list`)
  const searched = page.waitForResponse(
    (response) => response.request().postData()?.includes(`"filter":"${words}"`) === true,
  )
  await named(page, 'rlc-search').fill(words)
  const { data } = (await (await searched).json()) as { data: { results: unknown[] } }
  if (data.results.length !== 1) throw new Error(`the search for ${words} gave ${String(data.results.length)}`)
  await found.waitFor()
  await found.click()
}

function onCanvas(page: Page, name: string) {
  return page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`)
}

/** n8n's own marks for its tests. */
function named(page: Page, name: string) {
  return page.locator(`[data-test-id="${name}"]`)
}

type Picture = (page: Page, name: string) => Promise<void>

/** Stores the pictures for people who inspect a run; the documentation's pictures are replaced only on request. */
function pictures(version: string): Picture {
  const folder = process.env['COINSLOT_PICTURES'] ?? `.build/n8n/${version}`
  mkdirSync(folder, { recursive: true })
  return async (page, name) => {
    await page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' })
  }
}
