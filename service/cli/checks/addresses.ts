import type { Addresses, Config } from '../../config.ts'
import { outboundClient } from '../../outbound/client.ts'
import { fault, fine, reasonOf, warning, type Finding, type CheckContext } from './model.ts'

/** Whether the world finds us where we say that we are. */
export async function checkAddresses({ config }: CheckContext): Promise<readonly Finding[]> {
  // The operator's own addresses may well be private from here.
  const outbound = outboundClient({ policy: { allowPrivate: true, allowHosts: [] }, connectMs: 3_000 })
  try {
    const origins = [...new Set(Object.values(config.addresses).map((address: string) => new URL(address).origin))]
    const asked = origins.map(async (origin): Promise<Finding> => {
      const check = `address ${origin}`
      try {
        const limits = { totalMs: 5_000, bodyBytes: 65_536 }
        const { status, headers, body } = await outbound.send({ url: `${origin}/healthz`, limits, truncate: true })
        const ours = String(headers['x-request-id'] ?? '').startsWith('req_') && body.toString().includes('"ok"')
        if (status === 200 && ours) return fine(check, 'The health check of this service answers there.')
        return fault(
          check,
          `Another service answers at ${origin}/healthz (status ${String(status)}): the proxy must forward it to this service.`,
        )
      } catch (error) {
        const says = `${origin}/healthz does not answer: ${reasonOf(error)}`
        return config.LIVE ? fault(check, says) : warning(check, `${says} The service may simply not be running.`)
      }
    })
    return [...unsafe(config), ...(await Promise.all(asked))]
  } finally {
    await outbound.close()
  }
}

function unsafe(config: Config): Finding[] {
  if (!config.LIVE) return []
  const plain = NAMES.filter((name) => !config.addresses[name].startsWith('https:'))
  return plain.map((name) =>
    fault(
      `address ${name}`,
      `PUBLIC_${name.toUpperCase()}_URL is ${config.addresses[name]}: real money needs https, and a public address.`,
    ),
  )
}

const NAMES = [
  'api',
  'tools',
  'facilitator',
  'pay',
  'gate',
  'dashboard',
] as const satisfies readonly (keyof Addresses)[]
