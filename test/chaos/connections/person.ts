/**
 * A person at the provider, with a browser that has cookies, follows redirects and submits the forms: they sign in under
 * this name and allow what is asked. Returns the query with which the browser is sent back, or null where it stays there.
 */
export async function allow(address: string, name: string, redirectUri: string): Promise<string | null> {
  const cookies = new Map<string, string>()
  const fill: Record<string, string> = { login: name, password: 'any' }
  let next: { url: string; form: URLSearchParams | null } = { url: address, form: null }
  for (let step = 0; step < STEPS_MAX; step++) {
    const { url, form } = next
    const response = await fetch(url, {
      method: form === null ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(form === null ? {} : { body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '') cookies.delete(key)
      else cookies.set(key, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    if (location?.startsWith(redirectUri)) return new URL(location).search.slice(1)
    const found = location === null ? formOf(text, fill) : { url: location, form: null }
    if (found === null) {
      if (response.status === 200) return null
      throw new Error(`the provider answered ${String(response.status)}: ${text.slice(0, 500)}`)
    }
    next = { url: new URL(found.url, url).href, form: found.form }
  }
  throw new Error('the provider does not come to an end')
}

function formOf(page: string, fill: Record<string, string>): { url: string; form: URLSearchParams } | null {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? []
  if (action === undefined) return null
  const form = new URLSearchParams()
  for (const [input] of page.matchAll(/<input[^>]*>/g)) {
    const [name, value] = ['name', 'value'].map((key) => new RegExp(` ${key}="([^"]*)"`).exec(input)?.[1])
    if (name !== undefined) form.set(name, fill[name] ?? value ?? '')
  }
  return { url: action, form }
}

const STEPS_MAX = 20
