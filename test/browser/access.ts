import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What keeps people with disabilities out: none of it, seriously. */
export async function barriers(page: Page): Promise<string[]> {
  // Half a megabyte; a page that changes without being loaded again has it still.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>(RUN)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}

// Of what passes nothing is asked: writing all of it down takes longer than finding out.
const RUN = `axe.run({ resultTypes: ['violations'] })`
