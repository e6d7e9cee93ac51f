import { Agent, request } from 'undici'

/** In quiet times: anything but a success is a mistake of the test. */
export async function call(
  origin: string,
  key: string | null,
  method: 'GET' | 'POST' | 'PATCH',
  at: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  // oxlint-disable-next-line typescript/no-explicit-any -- looked into field by field, as in other tests
): Promise<any> {
  const answer = await request(origin + at, {
    method,
    dispatcher: QUIET,
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300 && answer.statusCode !== 402) throw new Error(`${method} ${at}: ${text}`)
  return JSON.parse(text)
}

const QUIET = new Agent({ connections: 4 })
