import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Returns the serious accessibility violations of a page. */
export async function barriers(page: Page): Promise<string[]> {
  // The script has half a megabyte; it stays in a page that changes without a reload.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>(RUN)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}

/** These find nothing that is reported, and looking takes most of the time of a test in a browser. */
const LESSER = (axe as unknown as { _audit: { rules: { id: string; impact: string }[] } })._audit.rules.filter(
  ({ impact }) => impact === 'minor' || impact === 'moderate',
)
const OPTIONS = {
  // Recording the passed checks takes longer than the checks.
  resultTypes: ['violations'],
  rules: Object.fromEntries(LESSER.map(({ id }) => [id, { enabled: false }])),
}
const RUN = `axe.run(${JSON.stringify(OPTIONS)})`
