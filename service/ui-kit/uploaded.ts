/**
 * The name of a file that a customer uploaded, by its link; null for any other text. `pages`: the address of the hosted
 * forms, with a slash at its end. A customer can write any address, and a seller follows the name of what was uploaded here.
 */
export function uploadedIn(link: string, pages: string): string | null {
  if (!URL.canParse(link)) return null
  const { href, searchParams } = new URL(link)
  const isUpload = href.startsWith(pages) && UPLOAD.test(href.slice(pages.length))
  return isUpload && searchParams.has('token') ? searchParams.get('name') : null
}

const UPLOAD = /^chk_[^/?#]*\/files\/file_[^/?#]*\?/
