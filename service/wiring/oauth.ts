import { Router } from 'express'
import { createGuessLimit, createRateLimit } from '../api/limits.ts'
import { contextOf, limitAddresses } from '../api/requests.ts'
import type { Budgets } from '../budgets/service/budgets.ts'
import type { Identity } from '../identity/service/identity.ts'
import type { Caller } from '../kit/caller.ts'
import { withoutTrailing } from '../kit/text.ts'
import { outboundClient } from '../outbound/client.ts'
import type { Part, Platform } from './platform.ts'

import { plainErrorPage } from '../ui-kit/plain-page.ts'
import { authorizeRouter, type AuthorizeDeps } from '../oauth/http/authorize.ts'
import { deviceAuthorization, devicePage, deviceToken, type DeviceDeps } from '../oauth/http/device.ts'
import { clientEndpoints } from '../oauth/http/endpoints.ts'
import { createFormTokens } from '../oauth/http/form-tokens.ts'
import { authorizationServer, protectedResource } from '../oauth/http/metadata.ts'
import type { Endpoints } from '../oauth/model.ts'
import { ACCESS_PREFIX } from '../oauth/rules/grants.ts'
import { createClients } from '../oauth/service/clients.ts'
import { createDevices } from '../oauth/service/devices.ts'
import { createGrants } from '../oauth/service/grants.ts'
import { createClientStore, createDeviceStore, createGrantStore } from '../oauth/store.ts'
import { identifier } from './identity.ts'

/** Identifies MCP callers by access tokens. */
export interface AccessTokens {
  /** The MCP server that the tokens are for. */
  address: string
  /** Its metadata, which tells clients where to get tokens. */
  metadataAddress: string
  /** Null when the header holds no access token. */
  identify(authorization: string | undefined, environmentHeader: string | undefined): Promise<Caller | null>
}

/** The accounts of this service as an OAuth authorization server for its MCP server. */
export function openOAuth(platform: Platform, { identity, budgets }: OAuthDeps) {
  const { config, clock, log, database } = platform
  const endpoints = endpointsOf(config.addresses)
  const clientStore = createClientStore(database.statements)
  // Anyone may name a client's address, without an account: no private one is asked, also where accounts may have it called.
  const outbound = outboundClient({ policy: { allowPrivate: false, allowHosts: [] } })
  const clients = createClients({ store: clientStore, clock, outbound })
  const grants = createGrants({
    store: createGrantStore(database.statements),
    identity,
    agents: budgets.agents,
    clock,
    resource: endpoints.resource,
    secret: platform.secret,
  })
  const { origin, pathname } = new URL(endpoints.resource)
  const accessTokens: AccessTokens = {
    address: endpoints.resource,
    metadataAddress: `${origin}${RESOURCE_PATH}${pathname}`,
    async identify(authorization, environmentHeader) {
      const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
      return token?.startsWith(ACCESS_PREFIX) === true ? await grants.identify(token, environmentHeader) : null
    },
  }
  const handler = protocol(platform, {
    clients,
    grants,
    endpoints,
    live: config.LIVE,
    forms: createFormTokens(platform.secret),
    identify: identifier(platform, identity),
    devices: createDevices({ store: createDeviceStore(database.statements), identity, clock }),
    log,
    guesses: createGuessLimit('oauth-device-code', WRONG_CODES_PER_HOUR, platform.redis),
  })
  const part: Part = {
    mounted: [
      { role: 'tools', path: RESOURCE_PATH, handler: protectedResource(endpoints) },
      { role: 'dashboard', path: SERVER_PATH, handler: authorizationServer(endpoints) },
      { role: 'dashboard', path: new URL(endpoints.address).pathname, handler },
    ],
    sweepers: [{ name: 'oauth.grants', everyMs: 60_000, run: (now) => grants.endExpired(now) }],
    stop: () => outbound.close(),
  }
  return { accessTokens, part }

  function protocol({ redis }: Platform, deps: AuthorizeDeps & DeviceDeps): Router {
    const visits = createRateLimit('oauth-authorize', config.RATE_SIGN_IN_PER_MINUTE, redis)
    // Assistants that run on servers refresh the tokens of all their users from few addresses.
    const exchanges = createRateLimit('oauth-token', config.RATE_API_PER_MINUTE, redis)
    const registrations = createRateLimit('oauth-register', REGISTRATIONS_PER_HOUR, redis, 3_600)
    const router = Router()
    const devices = createRateLimit('oauth-device', DEVICES_PER_HOUR, redis, 3_600)
    router.use(['/token', '/revoke'], limitAddresses(exchanges))
    router.use(['/authorize', '/device'], limitAddresses(visits))
    router.use('/register', limitAddresses(registrations, 'POST'))
    router.use('/device_authorization', limitAddresses(devices, 'POST'))
    router.post('/device_authorization', deviceAuthorization(deps))
    // Before the endpoint of the MCP SDK, which knows two grants.
    router.post('/token', deviceToken(deps))
    for (const [path, endpoint] of Object.entries(clientEndpoints({ clients, grants, log }))) router.use(path, endpoint)
    router.use(['/authorize', '/device'], (_request, response, next) => {
      contextOf(response).errorPage = plainErrorPage
      next()
    })
    router.use('/authorize', authorizeRouter(deps))
    router.use('/device', devicePage(deps))
    return router
  }
}

interface OAuthDeps {
  identity: Identity
  budgets: Budgets
}

function endpointsOf({ dashboard, tools }: { dashboard: string; tools: string }): Endpoints {
  const base = withoutTrailing(dashboard, '/')
  return {
    issuer: new URL(dashboard).origin,
    address: `${base}/oauth`,
    resource: `${tools}/mcp`,
    signIn: `${base}/sign-in`,
  }
}

const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
const SERVER_PATH = '/.well-known/oauth-authorization-server'
/** From one network address. */
const REGISTRATIONS_PER_HOUR = 60
const DEVICES_PER_HOUR = 60
/** Of one person: each code has 34 bits, and few are waiting at a time. */
const WRONG_CODES_PER_HOUR = 20
