/** One of each pricing model. */
export const PAYWALL = {
  slug: 'weather',
  name: 'Weather',
  upstreamUrl: 'http://127.0.0.1:9/base/',
  upstreamHeaders: { 'X-Api-Key': 'an upstream key' },
  network: 'base-sepolia',
  recipient: '0x00000000000000000000000000000000000000A1',
  milestones: [100, 0.5, 100],
  routes: [
    {
      method: 'GET',
      path: '/today/:city',
      pricing: { model: 'per-request', amount: 0.01 },
      description: 'Of a city',
      settle: 'before',
    },
    {
      method: 'GET',
      path: '/data',
      pricing: { model: 'tiered', tiers: [{ upTo: 10, amount: 0.02 }, { amount: 0.01 }], window: 'month' },
    },
    {
      method: 'POST',
      path: '/chat',
      pricing: { model: 'per-token', input: 0.000001, output: 0.002, minimum: 0, maximum: 1 },
    },
    { method: '*', path: '/call', pricing: { model: 'per-minute', amount: 0.1, minimum: 0.01, maximum: 2 } },
    { method: '*', path: '/*', pricing: { model: 'free' } },
  ],
}
