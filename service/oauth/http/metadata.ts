import { Router } from 'express'
import type { Endpoints } from '../model.ts'
import { DEVICE_GRANT } from '../rules/devices.ts'

/** Where a client of the MCP server gets access tokens (RFC 9728). */
export function protectedResource({ issuer, resource }: Endpoints): Router {
  const document = {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    resource_name: 'Coinslot tools',
  }
  return served(['/', new URL(resource).pathname], document)
}

/** What this authorization server offers (RFC 8414). */
export function authorizationServer({ issuer, address }: Endpoints): Router {
  return served(['/'], {
    issuer,
    authorization_endpoint: `${address}/authorize`,
    token_endpoint: `${address}/token`,
    revocation_endpoint: `${address}/revoke`,
    registration_endpoint: `${address}/register`,
    device_authorization_endpoint: `${address}/device_authorization`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  })
}

function served(paths: string[], document: object): Router {
  const router = Router()
  router.get(paths, (_request, response) => {
    // Public, and the same for everybody.
    response.set('Access-Control-Allow-Origin', '*').json(document)
  })
  return router
}
