/**
 * What a browser says in `Sec-Fetch-Site` of the page that made it ask. `same-site` is a neighbour: another host of the
 * same domain.
 */
export function isOfAnotherSite(fetchSite: string | readonly string[] | null | undefined): boolean {
  return fetchSite === 'cross-site' || fetchSite === 'same-site'
}
