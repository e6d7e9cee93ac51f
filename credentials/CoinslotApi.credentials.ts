import type {
  IAuthenticateGeneric,
  IAuthenticateRuleResponseSuccessBody,
  Icon,
  ICredentialTestRequest,
  ICredentialType,
  INodeProperties,
} from 'n8n-workflow'
import { PRESET } from '../nodes/shared/transport.ts'

/** The addresses of version 0.1, one for each environment. n8n drops a stored value whose property is gone. */
const FIRST_VERSION = (['sandbox', 'production'] as const).flatMap((environment): INodeProperties[] => [
  { displayName: 'Service Address', name: `${environment}Url`, type: 'hidden', default: '' },
  {
    displayName:
      'This credential was made with version 0.1 of the package, and the service address that it had then is still used. Write another address above to replace it.',
    name: `${environment}Notice`,
    type: 'notice',
    default: '',
    displayOptions: {
      show: { environment: [environment], [`${environment}Url`]: [{ _cnd: { exists: true } }], url: [PRESET] },
    },
  },
])

/** As the nodes choose it. */
const ADDRESS = `$credentials.url === "${PRESET}" && $credentials[$credentials.environment + "Url"] || $credentials.url`

export class CoinslotApi implements ICredentialType {
  name = 'coinslotApi'

  displayName = 'Coinslot API'

  icon: Icon = { light: 'file:coinslot.svg', dark: 'file:coinslot.dark.svg' }

  documentationUrl = 'https://github.com/coinslot/n8n-nodes-coinslot/blob/main/docs/n8n/README.md#the-credential'

  properties: INodeProperties[] = [
    {
      displayName: 'Environment',
      name: 'environment',
      type: 'options',
      default: 'sandbox',
      description: 'Which of your two accounts the key belongs to',
      options: [
        { name: 'Sandbox', value: 'sandbox', description: 'For testing: no real money moves' },
        { name: 'Production', value: 'production', description: 'For real payments' },
      ],
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      placeholder: 'csk_…',
      description: 'From the Coinslot dashboard. It begins with csk_test_ for Sandbox, with csk_live_ for Production.',
    },
    {
      displayName: 'Service Address',
      name: 'url',
      type: 'string',
      default: PRESET,
      required: true,
      description:
        'The API address of your Coinslot service. The preset is a service on the same machine; an n8n in Docker reaches that at http://host.docker.internal:4020/v1.',
    },
    ...FIRST_VERSION,
    {
      displayName: 'Tools Address',
      name: 'toolsUrl',
      type: 'string',
      default: '',
      placeholder: 'e.g. https://tools.coinslot.example.com',
      description:
        'Only needed when the tools of your service have their own address. Leave it empty when they are under /tools next to the service address.',
    },
  ]

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: {
      headers: {
        Authorization: '=Bearer {{$credentials.apiKey}}',
        // The key alone decides the environment. Sending the chosen one lets the service refuse a key of the other
        // environment.
        'Coinslot-Environment': '={{$credentials.environment}}',
      },
    },
  }

  test: ICredentialTestRequest = {
    request: {
      baseURL: `={{(${ADDRESS}).trim().replace(/\\/+$/, "")}}`,
      url: '/me',
      headers: { accept: 'application/json' },
      // Some versions of n8n read only the status of a refusal and show a message of their own; all versions read a
      // body.
      ignoreHttpStatusErrors: true,
    },
    rules: [
      refusal(
        'environment_mismatch',
        'The key belongs to the other environment: keys that begin with csk_test_ are for Sandbox, csk_live_ for Production.',
      ),
      refusal('unauthenticated', 'Coinslot does not accept this API key. It may be mistyped, expired or revoked.'),
      refusal('rate_limited', 'Too many requests to Coinslot. Wait a minute, then try again.'),
      {
        type: 'responseSuccessBody',
        properties: {
          key: 'userId',
          value: undefined,
          message: 'No Coinslot service answered at this address. It usually ends with /v1.',
        },
      },
    ],
  }
}

function refusal(code: string, message: string): IAuthenticateRuleResponseSuccessBody {
  return { type: 'responseSuccessBody', properties: { key: 'code', value: code, message } }
}
