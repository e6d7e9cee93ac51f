import type { Addresses, Config } from '../../config.ts'
import { certificateOf } from '../../outbound/certificate.ts'
import { outboundClient } from '../../outbound/client.ts'
import { fault, fine, reasonOf, warning, type Finding, type CheckContext } from './model.ts'

/** Whether the world finds us where we say that we are. */
export async function checkAddresses({ config, now }: CheckContext): Promise<readonly Finding[]> {
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
    const shown = origins.filter((origin) => origin.startsWith('https:')).map((origin) => certificate(origin, now))
    return [...unsafe(config), ...(await Promise.all([...asked, ...shown]))]
  } finally {
    await outbound.close()
  }
}

async function certificate(origin: string, now: () => number): Promise<Finding> {
  const check = `certificate ${origin}`
  const { hostname, port } = new URL(origin)
  try {
    const { endsAt, refusal } = await certificateOf({ hostname, port: port === '' ? 443 : Number(port) }, 5_000)
    const days = Math.floor((endsAt.getTime() - now()) / 86_400_000)
    const says = `It is valid until ${endsAt.toISOString().slice(0, 10)}, ${String(days)} more days.`
    if (refusal !== null)
      return fault(check, `Clients refuse it: ${refusal}. Send the whole chain (fullchain.pem) of this name.`)
    return days < RENEW_DAYS
      ? warning(check, `${says} Renew it, and see why that did not happen by itself.`)
      : fine(check, says)
  } catch (error) {
    return fault(check, `Cannot be read: ${reasonOf(error)}`)
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

const RENEW_DAYS = 14

const NAMES = [
  'api',
  'tools',
  'facilitator',
  'pay',
  'gate',
  'dashboard',
] as const satisfies readonly (keyof Addresses)[]
