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

// Only violations are collected: recording the passed checks takes longer than the checks.
const RUN = `axe.run({ resultTypes: ['violations'] })`
