import { readConfig } from '../../service/config.ts'

const misspeltSettings = (environment: Record<string, string>) => readConfig(environment).misspelt

const VALUES: Readonly<Record<string, string>> = { LIVE: 'false', DATABASE_URL: 'postgres://localhost/a' }

describe('settings that nothing reads', () => {
  test.each([
    ['RATE_PAY_PER_MINUT', 'RATE_PAY_PER_MINUTE'],
    ['WALLET_XPUBS', 'WALLET_XPUB'],
    ['DATABASE_URI', 'DATABASE_URL'],
  ])('%s is named with %s', (name, meant) => {
    expect(misspeltSettings({ [name]: 'x' })).toEqual([
      `${name} is not a setting, so it is ignored. Did you mean ${meant}?`,
    ])
  })

  test('an unknown one with our prefix is reported', () => {
    expect(misspeltSettings({ RATE_OF_SOMETHING: '1' })).toEqual([
      'RATE_OF_SOMETHING is not a setting, so it is ignored.',
    ])
  })

  test('those of other programs and valid ones are not reported', () => {
    const others = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'LC_ALL',
      'NODE_ENV',
      'SSH_AUTH_SOCK',
      'XDG_RUNTIME_DIR',
      'LINE',
      'npm_config_cache',
    ]
    const ours = ['RATE_PAY_PER_MINUTE', 'PORT', 'LIVE', 'DATABASE_URL']
    expect(
      misspeltSettings(Object.fromEntries([...others, ...ours].map((name) => [name, VALUES[name] ?? '1']))),
    ).toEqual([])
  })
})

describe('origins that may call', () => {
  const faults = (origins: string): readonly string[] => {
    try {
      readConfig({ CORS_ORIGINS: origins })
      return []
    } catch (error) {
      return (error as { faults: string[] }).faults
    }
  }

  test('are listed as browsers send them', () => {
    expect(
      faults('https://app.example.com, http://localhost:3000, chrome-extension://abcdef, tauri://localhost'),
    ).toEqual([])
  })

  test.each([
    '*',
    'https://*.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'app.example.com',
    'null',
  ])('are not %s, and the fault names it', (entry) => {
    expect(faults(`https://app.example.com,${entry}`)).toEqual([
      `CORS_ORIGINS must list origins, such as https://app.example.com, without a path or a pattern; ${entry} is none`,
    ])
  })
})

describe('calls to private addresses', () => {
  const allowed = (environment: Record<string, string>) => readConfig(environment).ALLOW_PRIVATE_CALLBACKS

  test('are allowed in a sandbox on one machine', () => {
    expect(allowed({})).toBe(true)
    expect(allowed({ PUBLIC_DASHBOARD_URL: 'http://127.0.0.1:4020', PUBLIC_GATE_URL: 'http://[::1]:4020' })).toBe(true)
  })

  test.each(['API', 'TOOLS', 'FACILITATOR', 'PAY', 'GATE', 'DASHBOARD'])(
    'are refused where the address of %s is public, until they are allowed',
    (name) => {
      const environment = { [`PUBLIC_${name}_URL`]: 'https://pay.example.com' }
      expect(allowed(environment)).toBe(false)
      expect(allowed({ ...environment, ALLOW_PRIVATE_CALLBACKS: 'true' })).toBe(true)
    },
  )

  test('are refused where they are switched off', () => {
    expect(allowed({ ALLOW_PRIVATE_CALLBACKS: 'false' })).toBe(false)
  })
})
