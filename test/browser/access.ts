import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import axe from 'axe-core'
import type { CDPSession, Page } from 'playwright-core'

/** Returns the serious accessibility violations of a page, as it looks when nothing moves any more. */
export async function barriers(page: Page): Promise<string[]> {
  if (!sessions.has(page)) sessions.set(page, await page.context().newCDPSession(page))
  const session = sessions.get(page)!
  // The script has 600 KB; it stays in a page that changes without a reload.
  if (!(await evaluate<boolean>(session, '"axe" in window'))) await evaluate(session, SCRIPT)
  await evaluate(session, REST)
  const violations = await evaluate<axe.Result[]>(session, RUN)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}

/** Not by `page.evaluate`, which wraps the text: what Chromium has compiled once it uses again in the next document. */
async function evaluate<Value>(session: CDPSession, expression: string): Promise<Value> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  })
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as Value
}

const sessions = new WeakMap<Page, CDPSession>()

/** Half as much to read for the browser as the module's own `axe.source`. */
const SCRIPT = `${readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')};0`

/** These find nothing that is reported, and looking takes most of the time of a test in a browser. */
const LESSER = (axe as unknown as { _audit: { rules: { id: string; impact: string }[] } })._audit.rules.filter(
  ({ impact }) => impact === 'minor' || impact === 'moderate',
)
const OPTIONS = {
  // Recording the passed checks takes longer than the checks.
  resultTypes: ['violations'],
  rules: Object.fromEntries(LESSER.map(({ id }) => [id, { enabled: false }])),
}
const RUN = `axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) => violations)`

/** By then, elements that fade in have their final colours; transitions of a new theme start with the next frame. */
const REST = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() =>
  Promise.all(
    document
      .getAnimations()
      .filter((each) => each.effect.getTiming().iterations === 1)
      .map((each) => each.finished.catch(() => undefined)),
  ).then(() => 0),
)`
